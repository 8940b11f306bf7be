package gateway

import (
	"context"

	"github.com/fastreact/fastreact/host/internal/run"
)

// entry is one accepted call, from its request to its result.
type entry struct {
	key         string // idempotency key, lower case; empty: of the deterministic agent's own
	fingerprint string // of the intention
	callID      string
	resultID    string
	turnID      string
	toolID      string
	shelf       *shelf
	done        chan struct{} // closed when it has ended, after all below was set
	ended       bool          // guarded by Gateway.mu
	result      Result
	fault       error // what the caller and every replay get instead of a reply
}

func newEntry(s *shelf, w wish) *entry {
	return &entry{
		key: w.key, fingerprint: w.fingerprint, callID: run.NewUUID(), resultID: run.NewUUID(),
		turnID: w.turnID, toolID: w.tool.id, shelf: s, done: make(chan struct{}),
	}
}

// wait waits for the call's end, or returns the cause of ctx.
func (e *entry) wait(ctx context.Context) error {
	select {
	case <-e.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reply is the answer to whoever asked for the call. It must have ended.
func (e *entry) reply(replayed bool) (Reply, error) {
	if e.fault != nil {
		return Reply{}, e.fault
	}
	return Reply{
		TurnID: e.turnID, CallID: e.callID, ResultID: e.resultID, ToolID: e.toolID,
		State: e.result.State, Replayed: replayed,
	}, nil
}
