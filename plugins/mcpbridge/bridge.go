// Package mcpbridge offers the tools of configured MCP servers as one native plugin, and survives whatever those
// servers do: crashes, hangs, late replies, odd schemas, changed tool lists, huge results.
//
// A call is sent at most once. When nobody knows whether it ran, Invoke fails with a Failure that says so. Which
// calls are allowed, and with which arguments, is decided elsewhere; the bridge sends what it is given, on behalf of
// the identity it is given. Secrets of this process never reach a server, and no vendor's text reaches an error.
package mcpbridge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// Bridge is an sdk.Native over MCP servers. It is safe for concurrent use. The zero value is not usable; see New.
type Bridge struct {
	servers []*server
	forker  *forker
	cancel  context.CancelFunc
	tasks   sync.WaitGroup

	mu     sync.Mutex
	closed bool // no task is started any more
}

// New checks the config and returns a bridge that has not contacted any server yet. Every problem of the config is
// reported at once. The caller must Close the bridge.
func New(config Config) (*Bridge, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &Bridge{forker: newForker(), cancel: cancel}
	spawn := func(task func(context.Context)) bool { return b.spawn(func() { task(ctx) }) }
	names := newAliases(config.Servers, config.Reserved)
	for _, spec := range config.Servers {
		dial := dialer{spec: spec, config: config, forker: b.forker, spawn: spawn}.dial
		b.servers = append(b.servers, newServer(spec, config, names, dial, spawn))
	}
	spawn(b.reap(config.IdleTimeout))
	return b, nil
}

// spawn runs a task that Close waits for. It reports false once the bridge is closed.
func (b *Bridge) spawn(task func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.tasks.Go(task)
	}
	return !b.closed
}

// reap closes clients of users who have not called for the given time.
func (b *Bridge) reap(idle time.Duration) func(context.Context) {
	return func(ctx context.Context) {
		tick := time.NewTicker(max(idle/4, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				for _, s := range b.servers {
					s.closeIdle()
				}
			}
		}
	}
}

// Name is "mcpbridge".
func (b *Bridge) Name() string { return "mcpbridge" }

// Tools connects to every server that is not connected, all at once, each bounded by ctx and its own timeout, and
// returns the tools of those that work, sorted by name. A server that failed is left out until its backoff is over.
func (b *Bridge) Tools(ctx context.Context) []sdk.NativeTool {
	lists := make([][]sdk.NativeTool, len(b.servers))
	var all sync.WaitGroup
	for i, s := range b.servers {
		all.Go(func() { lists[i] = s.tools(ctx) })
	}
	all.Wait()
	tools := slices.Concat(lists...)
	slices.SortFunc(tools, func(x, y sdk.NativeTool) int { return cmp.Compare(x.Name, y.Name) })
	return tools
}

// Invoke calls one tool by its registered name. An error is always a *Failure.
func (b *Bridge) Invoke(ctx context.Context, registered string, call sdk.Call) (sdk.Result, error) {
	s, raw := b.find(registered)
	if s == nil {
		b.Tools(ctx) // the server may not have been asked yet
		s, raw = b.find(registered)
	}
	if s == nil {
		return sdk.Result{}, &Failure{Sentence: "No MCP server offers this tool.", Cause: errors.New("unknown tool " + registered)}
	}
	return s.invoke(ctx, raw, call)
}

func (b *Bridge) find(registered string) (*server, string) {
	for _, s := range b.servers {
		if raw, ok := s.rawName(registered); ok {
			return s, raw
		}
	}
	return nil, ""
}

// Status reports each server, in config order, without waiting for any.
func (b *Bridge) Status() []sdk.SourceStatus {
	all := make([]sdk.SourceStatus, 0, len(b.servers))
	for _, s := range b.servers {
		all = append(all, s.status())
	}
	return all
}

// Close ends every client, kills every child with its process group, and waits for both. Calls in flight fail.
func (b *Bridge) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	b.tasks.Wait()
	b.forker.close()
	return nil
}
