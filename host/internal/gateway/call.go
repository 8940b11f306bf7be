package gateway

import (
	"context"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Call makes one call, or answers it again: an intention that came with the same key before is not executed a second
// time, and one that is still under way is waited for. The call goes on when ctx ends; then Call returns its cause.
// Every other error is a *run.Error with one of Codes.
func (g *Gateway) Call(ctx context.Context, request Request) (Reply, error) {
	w, err := readRequest(request)
	if err != nil {
		return Reply{}, err
	}
	e, fresh, err := g.accept(w)
	if err != nil {
		return Reply{}, err
	}
	if fresh {
		g.begin(ctx, w, e)
	}
	if err := e.wait(ctx); err != nil {
		return Reply{}, err
	}
	return e.reply(!fresh)
}

// accept finds the entry of a wish's key, or makes one on the active workspace's shelf.
func (g *Gateway) accept(w wish) (e *entry, fresh bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(); err != nil {
		return nil, false, err
	}
	if w.workspace != "" && w.workspace != g.shelf.workspace {
		return nil, false, refuse(CodeUnknownSpace, "The call's workspace is not the active one.")
	}
	if known, is := g.shelf.keys[w.key]; is {
		if known.fingerprint != w.fingerprint {
			return nil, false, refuse(CodeConflict, "This idempotency_key was used for another call.")
		}
		return known, false, nil
	}
	e, err = g.enter(g.shelf, w)
	return e, err == nil, err
}

// open refuses what comes while there is no active workspace, or after Close. The caller holds mu.
func (g *Gateway) open() error {
	switch {
	case g.closed:
		return refuse(CodeClosed, "The service is shutting down.")
	case g.shelf == nil:
		return refuse(CodeNoWorkspace, "No workspace is active.")
	}
	return nil
}

// enter puts a new call on a shelf and tells that it was requested and started. The caller holds mu, and must begin
// the call.
func (g *Gateway) enter(s *shelf, w wish) (*entry, error) {
	if g.crowded() {
		return nil, refuse(CodeCapacity, "Too many calls are under way.")
	}
	e := newEntry(s, w)
	s.keep(e, g.cfg.Limits.Calls)
	g.running[e] = nil
	g.tasks.Add(1)
	for _, kind := range []Kind{ToolRequested, ToolStarted} {
		g.tell(s, Event{
			Kind: kind, TurnID: w.turnID, CallID: e.callID, ObjectRefs: w.refs,
			Payload: run.EncodeOwn(map[string]any{"tool_id": w.tool.id}),
		})
	}
	return e, nil
}

// crowded reports whether as many calls are under way as are ever kept: none of them may be forgotten. The caller
// holds mu.
func (g *Gateway) crowded() bool { return len(g.running) >= g.cfg.Limits.Calls }

// Result returns a result of the active workspace that is still kept.
func (g *Gateway) Result(id string) (Result, error) {
	if !run.IsUUID(id) {
		return Result{}, invalid("A result's id is a UUID.")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shelf != nil {
		if e, is := g.shelf.results[strings.ToLower(id)]; is && e.ended {
			return e.result, nil
		}
	}
	return Result{}, refuse(CodeResultUnknown, "This workspace keeps no such result.")
}

// callOf is what the gate is asked.
func (g *Gateway) callOf(w wish, e *entry) run.Call {
	call := run.CallIn(e.shelf.workspace, names()...)
	call.Fence.ID, call.ID = strings.ToLower(w.turnID), e.callID
	call.Tool, call.Args = w.tool.name(), w.input
	return call
}
