//go:build unix && !linux

package mcpbridge

import "syscall"

// ownGroup makes a child the leader of its own process group.
func ownGroup(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
