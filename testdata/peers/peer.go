// Package peers starts real servers for tests: a MariaDB, a PostgreSQL and a Prometheus, each with a folder of its own
// below the system's folder for temporary files, on loopback, gone after Stop; and it finds the programs that tests
// compare with, or ends the test that needs one. It is for tests, and for Linux.
package peers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// ErrMissing is wrapped by every starter whose program is not installed. A test skips then, and fails in CI.
var ErrMissing = errors.New("peer not installed")

// patience bounds how long a server takes to start, and to stop.
const patience = 60 * time.Second

// find returns the path of a program, also of one that only administrators have in their PATH.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	path, err := exec.LookPath(filepath.Join("/usr/sbin", name))
	if err != nil {
		return "", fmt.Errorf("%w: %s", ErrMissing, name)
	}
	return path, nil
}

// folder makes a folder that belongs to the user a server runs as: not root, who is refused by some.
func folder(name string) (path string, as *syscall.Credential, err error) {
	path, err = os.MkdirTemp("", "peer-"+name+"-")
	if err != nil || os.Geteuid() != 0 {
		return path, nil, err
	}
	as = &syscall.Credential{Uid: 65534, Gid: 65534}
	if nobody, lookup := user.Lookup("nobody"); lookup == nil {
		uid, _ := strconv.ParseUint(nobody.Uid, 10, 32)
		gid, _ := strconv.ParseUint(nobody.Gid, 10, 32)
		as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return path, as, os.Chown(path, int(as.Uid), int(as.Gid))
}

// freePort finds a port of loopback that nobody listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// program is a server that runs.
type program struct {
	command *exec.Cmd
	folder  string
	log     *lockedBuffer
	ended   chan struct{} // closed when the process is gone
}

// start runs a server in a folder of its own and waits until ready says that it works.
func start(folder string, as *syscall.Credential, ready func() error, argv ...string) (*program, error) {
	p := &program{command: exec.Command(argv[0], argv[1:]...), folder: folder, log: &lockedBuffer{}, ended: make(chan struct{})}
	p.command.Dir, p.command.Stdout, p.command.Stderr = folder, p.log, p.log
	p.command.Env = []string{"HOME=" + folder, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + folder}
	p.command.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	go func() {
		_ = p.command.Wait()
		close(p.ended)
	}()
	if err := p.await(ready); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w\n%s", filepath.Base(argv[0]), err, p.log), p.stop())
	}
	return p, nil
}

func (p *program) await(ready func() error) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return errors.New("it ended before it was ready")
		case <-late.C:
			return err
		}
	}
}

// stop ends the process and removes its folder.
func (p *program) stop() error {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.command.Process.Kill()
		<-p.ended
	}
	return os.RemoveAll(p.folder)
}

// once runs a program to its end.
func once(folder string, as *syscall.Credential, argv ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Dir, command.Env = folder, []string{"HOME=" + folder, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + folder}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w\n%s", filepath.Base(argv[0]), err, output)
	}
	return nil
}

// lockedBuffer is what a server logs.
type lockedBuffer struct {
	lock sync.Mutex
	text bytes.Buffer
}

// Write adds to the log.
func (b *lockedBuffer) Write(more []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.text.Write(more)
}

// String returns the log.
func (b *lockedBuffer) String() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.text.String()
}
