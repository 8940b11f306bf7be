package gate

import (
	"context"
	"errors"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// stopped does a call whose run is stopped right before its tool returns.
func (w *world) stopped(call run.Call) run.CallOutcome {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	w.source.before = stop
	g := w.gate()
	return g.Do(ctx, g.Check(ctx, call), nil)
}

func TestAResultThatCameAsItsRunWasStoppedIsReadAndBooked(t *testing.T) {
	const clean = `{"results":[{"source_item_id":"a1"}]}`
	w := newWorld(t)
	w.source.result = sdk.Result{Content: clean}
	got := w.stopped(scopedCall(`{}`, sdk.Hard))
	if got.Content != clean || got.Cut || got.Record == nil || got.Record.ResultDigest != run.Digest([]byte(clean)) {
		t.Errorf("outcome %+v", got)
	}
}

func TestAFailureThatCameAsItsRunWasStoppedMayBeOfTheStop(t *testing.T) {
	for name, change := range map[string]func(*fakeSource){
		"of the source": func(s *fakeSource) { s.err = errors.New("cut off") },
		"of the tool":   func(s *fakeSource) { s.result = sdk.Result{Content: "cut off", IsError: true} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change(w.source)
			if got := w.stopped(callOf("read_file", `{}`)); !got.IsError || !got.Cut {
				t.Errorf("outcome %+v", got)
			}
		})
	}
}
