package mcpbridge

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync"
)

// forker starts children from one operating-system thread that lives as long as the bridge. Linux kills a child
// whose parent dies when the thread that forked it ends, and Go may end any other thread.
type forker struct {
	jobs   chan forkJob
	ended  chan struct{}
	ending sync.Once
}

type forkJob struct {
	cmd  *exec.Cmd
	done chan error
}

func newForker() *forker {
	f := &forker{jobs: make(chan forkJob), ended: make(chan struct{})}
	go f.run()
	return f
}

func (f *forker) run() {
	defer close(f.ended)
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	for job := range f.jobs {
		job.done <- job.cmd.Start()
	}
}

func (f *forker) start(cmd *exec.Cmd) error {
	job := forkJob{cmd: cmd, done: make(chan error, 1)}
	f.jobs <- job
	if err := <-job.done; err != nil {
		return fmt.Errorf("%w: %w", errNotStarted, err)
	}
	return nil
}

// close ends the thread. Every child must be gone and nobody may call start any more.
func (f *forker) close() {
	f.ending.Do(func() { close(f.jobs) })
	<-f.ended
}
