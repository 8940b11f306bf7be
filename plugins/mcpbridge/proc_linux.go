package mcpbridge

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// parentsByPID reads who is whose child from the kernel.
func parentsByPID() map[int]int {
	parents := map[int]int{}
	for _, pid := range processes() {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			continue // it ended meanwhile
		}
		_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" ")) // then: state, parent, …
		if fields := strings.Fields(string(rest)); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	return parents
}

// sweep kills every process of this user that carries the mark in its environment: what is left of a server whose
// keeper was killed, or that has none.
func sweep(mark string) {
	for _, pid := range processes() {
		environment, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		if err == nil && pid != os.Getpid() && bytes.Contains(environment, []byte(mark)) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // fails only when it is gone
		}
	}
}

func processes() []int {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = folder.Close() }()
	names, _ := folder.Readdirnames(-1) // what could be read is used
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
