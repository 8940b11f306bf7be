package mcpbridge

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// A keeper is a second process of this program that stands between the bridge and one server. Every descendant of the
// server that loses its parent becomes the keeper's child, in whatever group or session it hides, so that none is lost
// from sight. The keeper ends when the server does or when the bridge's end of its control pipe closes, which the
// kernel also does for a bridge that was killed; it takes every descendant with it.
const keeperWord = "mcp-keep"

// controlFD is the descriptor of the control pipe in a keeper.
const controlFD = 3

// killPause is the time between two rounds of killing descendants, which may be born meanwhile.
const killPause = 5 * time.Millisecond

// Keep is called first thing in main by a program that sets Config.Kept. It reports false at once unless the bridge
// started this process as a keeper; else it returns, when the server and all its descendants are gone, the exit code.
func Keep(args []string) (code int, asked bool) {
	if len(args) < 3 || args[1] != keeperWord {
		return 0, false
	}
	runtime.LockOSThread() // the kernel kills the server when the thread that started it ends: the main thread does not
	server, err := startKept(args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 127, true
	}
	return keep(server), true
}

func startKept(command []string) (pid int, err error) {
	syscall.CloseOnExec(controlFD)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE) // they are the server's
	const setChildSubreaper = 36                                                                             // PR_SET_CHILD_SUBREAPER
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)                                 // where it is refused, the bridge finds orphans by their mark
	server := exec.Command(command[0], command[1:]...)
	server.Stdin, server.Stdout, server.Stderr = os.Stdin, os.Stdout, os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		return 0, fmt.Errorf("start server: %w", err)
	}
	closeAll([]*os.File{os.Stdin, os.Stdout, os.Stderr}) // so that the bridge sees when the server closes them
	return server.Process.Pid, nil
}

// keep waits for the end of the server or of the bridge, and then for the end of everybody else.
func keep(server int) (code int) {
	ended := make(chan int, 1)
	go func() { ended <- reapUntil(server) }()
	released := make(chan struct{})
	go func() {
		_, _ = os.NewFile(controlFD, "control").Read(make([]byte, 1)) // nothing is ever written: it returns at the end
		close(released)
	}()
	select {
	case code = <-ended:
	case <-released:
	}
	for {
		killDescendants()
		if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); errors.Is(err, syscall.ECHILD) {
			return code
		}
		time.Sleep(killPause)
	}
}

// reapUntil reaps children until the one with this number ended, and returns its exit code.
func reapUntil(server int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1
		case pid == server && status.Signaled():
			return 128 + int(status.Signal())
		case pid == server:
			return status.ExitStatus()
		}
	}
}

// killDescendants kills everybody who descends from this process.
func killDescendants() {
	parents := parentsByPID()
	for pid := range parents {
		ancestor, known := parents[pid], true
		for steps := 0; known && ancestor != os.Getpid() && steps < len(parents); steps++ {
			ancestor, known = parents[ancestor]
		}
		if known && ancestor == os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // fails only when it is gone
		}
	}
}
