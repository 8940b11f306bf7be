package mcpbridge

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	politeWait = time.Second            // how long a child may take to end by itself, and again after SIGTERM
	drainWait  = 200 * time.Millisecond // how long output of an ended child is still read
)

// process is one running child with its pipes, its process group and its keeper.
type process struct {
	cmd     *exec.Cmd
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File
	control *os.File      // closing it ends the keeper and all of its; nil without a keeper
	mark    string        // stands in the environment of the child and all of its
	exited  chan struct{} // closed once the child was reaped and what it left behind killed
	tasks   sync.WaitGroup
}

// startProcess starts the server's program. The caller reads stdout and must stop the process.
func startProcess(spec Server, f *forker, config Config) (*process, error) {
	program, err := exec.LookPath(spec.Command)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, fmt.Errorf("%w: %w", errNotStarted, err)
	}
	keeper := config.Kept && keeperWord != ""
	p := &process{cmd: exec.Command(program, spec.Args...), mark: "MCP_KEEPER=" + rand.Text(), exited: make(chan struct{})}
	if keeper {
		p.cmd = exec.Command("/proc/self/exe", append([]string{keeperWord, program}, spec.Args...)...)
		p.cmd.Args[0] = filepath.Base(os.Args[0])
	}
	p.cmd.Env = append(childEnv(os.Environ(), spec.Env), p.mark)
	p.cmd.SysProcAttr = ownGroup(keeper)
	theirs, err := p.openPipes(keeper)
	defer closeAll(theirs)
	if err == nil {
		err = f.start(p.cmd)
	}
	if err != nil {
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr, p.control})
		return nil, err
	}
	log := config.Log
	p.tasks.Go(func() { drainStderr(p.stderr, spec, log) })
	p.tasks.Go(p.wait)
	return p, nil
}

// openPipes connects the child's three streams, and the control pipe of a keeper, and returns the child's ends, which
// the caller closes after the start.
func (p *process) openPipes(keeper bool) (theirs []*os.File, err error) {
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
	if !keeper {
		return theirs, nil
	}
	control, ourControl, err := os.Pipe()
	if err != nil {
		return theirs, fmt.Errorf("%w: open pipe: %w", errNotStarted, err)
	}
	p.control, p.cmd.ExtraFiles = ourControl, []*os.File{control}
	return append(theirs, control), nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		if file != nil {
			_ = file.Close()
		}
	}
}

// wait reaps the child, kills what it left behind, and lets readers finish what was already written. A keeper leaves
// nothing behind unless it was killed itself.
func (p *process) wait() {
	defer close(p.exited)
	_ = p.cmd.Wait() // how it ended does not matter: an ended server is a failed server
	p.signal(syscall.SIGKILL)
	sweep(p.mark)
	deadline := time.Now().Add(drainWait)
	_ = p.stdout.SetReadDeadline(deadline)
	_ = p.stderr.SetReadDeadline(deadline)
}

func (p *process) signal(signal syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, signal) // fails only when the group is gone
}

// stop ends the child and all of its: politely by closing its input, then by SIGTERM, then by force. It returns when
// all of it is gone, but leaves stdout to its reader.
func (p *process) stop(ctx context.Context) {
	_ = p.stdin.Close()
	for _, next := range []func(){p.terminate, p.release, p.kill} {
		if p.waitExit(ctx) {
			break
		}
		next()
	}
	p.tasks.Wait()
	closeAll([]*os.File{p.stderr, p.control})
}

func (p *process) terminate() { p.signal(syscall.SIGTERM) }
func (p *process) kill()      { p.signal(syscall.SIGKILL) }

// release has the keeper kill the server and all of its. Without a keeper the group is killed.
func (p *process) release() {
	if p.control == nil {
		p.kill()
		return
	}
	_ = p.control.Close()
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
