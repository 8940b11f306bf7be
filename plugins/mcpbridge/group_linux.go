package mcpbridge

import "syscall"

// ownGroup makes a child the leader of its own process group. Unless it is a keeper, who sees our end by himself and
// has work to do then, the kernel kills it when we die.
func ownGroup(keeper bool) *syscall.SysProcAttr {
	if keeper {
		return &syscall.SysProcAttr{Setpgid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
