package mcpbridge

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	politeWait = time.Second            // how long a child may take to end by itself, and again after SIGTERM
	drainWait  = 200 * time.Millisecond // how long output of an ended child is still read
)

// process is one running child with its pipes and its process group.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	exited chan struct{} // closed once the child was reaped and its group killed
	tasks  sync.WaitGroup
}

// startProcess starts the server's program. The caller reads stdout and must stop the process.
func startProcess(spec Server, f *forker, log *slog.Logger) (*process, error) {
	p := &process{cmd: exec.Command(spec.Command, spec.Args...), exited: make(chan struct{})}
	p.cmd.Env = childEnv(os.Environ(), spec.Env)
	p.cmd.SysProcAttr = ownGroup()
	theirs, err := p.openPipes()
	defer closeAll(theirs)
	if err == nil {
		err = f.start(p.cmd)
	}
	if err != nil {
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		return nil, err
	}
	p.tasks.Go(func() { drainStderr(p.stderr, spec, log) })
	p.tasks.Go(p.wait)
	return p, nil
}

// openPipes connects the child's three streams and returns the child's ends, which the caller closes after the start.
func (p *process) openPipes() (theirs []*os.File, err error) {
	stdin, ourStdin, errIn := os.Pipe()
	ourStdout, stdout, errOut := os.Pipe()
	ourStderr, stderr, errErr := os.Pipe()
	p.stdin, p.stdout, p.stderr = ourStdin, ourStdout, ourStderr
	theirs = []*os.File{stdin, stdout, stderr}
	for _, problem := range []error{errIn, errOut, errErr} {
		if problem != nil {
			return theirs, fmt.Errorf("%w: open pipe: %w", errNotStarted, problem)
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, stderr
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		if file != nil {
			_ = file.Close()
		}
	}
}

// wait reaps the child, kills what it left behind in its group, and lets readers finish what was already written.
func (p *process) wait() {
	defer close(p.exited)
	_ = p.cmd.Wait() // how it ended does not matter: an ended server is a failed server
	p.signal(syscall.SIGKILL)
	deadline := time.Now().Add(drainWait)
	_ = p.stdout.SetReadDeadline(deadline)
	_ = p.stderr.SetReadDeadline(deadline)
}

func (p *process) signal(signal syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, signal) // fails only when the group is gone
}

// stop ends the child and its group: politely by closing its input, then by SIGTERM, then by SIGKILL. It returns when
// all of it is gone, but leaves stdout to its reader.
func (p *process) stop(ctx context.Context) {
	_ = p.stdin.Close()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if p.waitExit(ctx) {
			break
		}
		p.signal(signal)
	}
	p.tasks.Wait()
	_ = p.stderr.Close()
}

func (p *process) waitExit(ctx context.Context) bool {
	patience := time.NewTimer(politeWait)
	defer patience.Stop()
	select {
	case <-p.exited:
		return true
	case <-patience.C:
		return false
	case <-ctx.Done():
		return false
	}
}
