//go:build linux

package mcpbridge

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// family is a server with one descendant, each of which the test holds by a connection.
type family struct {
	bridge     *Bridge
	server     *peer
	descendant *peer
}

// raiseFamily starts a server as change makes it, and its descendant.
func raiseFamily(t *testing.T, change func(spec *Server, descendants string)) family {
	t.Helper()
	r, descendants := newRelay(t), newRelay(t)
	spec := r.server("fake")
	change(&spec, descendants.listener.Addr().String())
	b := open(t, Config{Servers: []Server{spec}})
	listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
	f := family{bridge: b, server: r.accept(t)}
	f.server.welcome(t, tool("work"))
	within(t, listed)
	f.descendant = descendants.accept(t)
	return f
}

// throughShell starts the server from a shell that also started a background process.
func throughShell(spec *Server, descendants string) {
	spec.Args = []string{"-c", roleVariable + "=stubborn " + addressVariable + "=" + descendants + " " + spec.Command + " & exec " + spec.Command}
	spec.Command = "sh"
}

// underShell leaves the shell between the bridge and the server.
func underShell(spec *Server, descendants string) {
	throughShell(spec, descendants)
	spec.Args[1] += "; exit 7"
}

// escaped has the server start a process in a session of its own that bears no mark.
func escaped(spec *Server, descendants string) {
	spec.Env[roleVariable], spec.Env[childVariable] = "parent", descendants
}

// died demands that the far end of a connection goes away.
func (p *peer) died(t *testing.T) {
	t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	_, err := p.conn.Read(make([]byte, 1))
	var network net.Error
	if err == nil || errors.As(err, &network) && network.Timeout() && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("it lives: %v", err)
	}
}

func TestEveryDescendantDiesWithTheBridge(t *testing.T) {
	for name, change := range map[string]func(*Server, string){"shell in front": throughShell, "shell between": underShell, "another session": escaped} {
		t.Run(name, func(t *testing.T) {
			f := raiseFamily(t, change)
			if err := f.bridge.Close(); err != nil {
				t.Fatal(err)
			}
			f.descendant.died(t)
		})
	}
}

func TestEveryDescendantDiesWhenTheServerCrashes(t *testing.T) {
	for name, change := range map[string]func(*Server, string){"shell in front": throughShell, "another session": escaped} {
		t.Run(name, func(t *testing.T) {
			f := raiseFamily(t, change)
			f.server.hangUp()
			f.descendant.died(t)
		})
	}
}

// keepers are the processes that this one started.
func keepers(t *testing.T) []int {
	t.Helper()
	var found []int
	for pid, parent := range parentsByPID() {
		if parent == os.Getpid() {
			found = append(found, pid)
		}
	}
	return found
}

func TestEveryDescendantDiesWhenTheKeeperIsKilled(t *testing.T) {
	f := raiseFamily(t, func(spec *Server, descendants string) {
		escaped(spec, descendants)
		spec.Env[markedVariable] = "1"
	})
	for _, pid := range keepers(t) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	f.server.died(t)
	f.descendant.died(t)
}

func TestServerWithoutAKeeperTakesWhatBearsItsMark(t *testing.T) {
	r, descendants := newRelay(t), newRelay(t)
	spec := r.server("fake")
	escaped(&spec, descendants.listener.Addr().String())
	spec.Env[markedVariable] = "1"
	b, err := New(Config{Servers: []Server{spec}})
	if err != nil {
		t.Fatal(err)
	}
	listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
	r.accept(t).welcome(t, tool("work"))
	within(t, listed)
	descendant := descendants.accept(t)
	_ = b.Close()
	descendant.died(t)
}

func TestOnlyAKeeperIsAskedToKeep(t *testing.T) {
	for _, args := range [][]string{nil, {"fastreact"}, {"fastreact", "serve"}, {"fastreact", keeperWord}} {
		if _, asked := Keep(args); asked {
			t.Errorf("%q was taken for a keeper", args)
		}
	}
}
