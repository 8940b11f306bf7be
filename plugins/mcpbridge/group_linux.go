package mcpbridge

import "syscall"

// ownGroup makes a child the leader of its own process group, and has the kernel kill it when we die.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
