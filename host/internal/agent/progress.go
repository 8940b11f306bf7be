package agent

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// progressPause is the least time between two signs of life of one call.
const progressPause = time.Second

// do lets the gate run a call and writes its signs of life while it does. They are committed before its result, and
// when they cannot be, neither can the result: whoever writes that hears of it.
func (d *drive) do(ctx context.Context, call openCall, verdict gate.Verdict, approval *run.Approval) (run.CallOutcome, error) {
	if d.cfg.MaxProgressBytes <= 0 {
		return d.pass(ctx, verdict, approval)
	}
	signs := &signs{left: d.cfg.MaxProgressBytes, notice: make(chan struct{}, 1)}
	over := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() { d.write(ctx, call, signs, over) })
	defer writer.Wait()
	defer close(over)
	return d.pass(sdk.WithProgress(ctx, signs.hear), verdict, approval)
}

// write makes events of what is heard, at most one in progressPause, until the call is over. What comes too late for
// its turn is left to the result, unless there was no sign of life before.
func (d *drive) write(ctx context.Context, call openCall, signs *signs, over <-chan struct{}) {
	for written := false; ; written = true {
		select {
		case <-signs.notice:
		case <-over:
			if written || !signs.any() {
				return
			}
		}
		event := run.Event{Kind: run.ToolProgress, ToolName: call.event.ToolName, ToolCallID: call.event.ToolCallID}
		event.Content, event.Metadata = signs.take()
		if d.append(ctx, ledger.Batch{Events: []run.Event{event}}) != nil || !pauseUnless(over, progressPause) {
			return
		}
	}
}

// pauseUnless waits and reports whether it did so to the end.
func pauseUnless(over <-chan struct{}, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-over:
		return false
	}
}

// signs gathers what a call reports until it is written.
type signs struct {
	notice chan struct{} // holds a value when there is something to write

	mu          sync.Mutex
	left        int // bytes of text that may still be written
	text        strings.Builder
	done, total *float64
	cut         bool // text was left out
	fresh       bool // something came since the last take
}

// hear takes one report. It may be called from many goroutines and never waits for a writer.
func (s *signs) hear(p sdk.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.ToValidUTF8(p.Text, "\uFFFD")
	if len(text) > s.left {
		text, s.cut = strings.ToValidUTF8(text[:s.left], ""), true
		s.left = 0
	} else {
		s.left -= len(text)
	}
	moved := !same(p.Done, s.done) || !same(p.Total, s.total)
	if p.Done != nil || p.Total != nil {
		s.done, s.total = p.Done, p.Total
	} else {
		moved = false
	}
	if text == "" && !moved {
		return
	}
	if p.Done != nil && text != "" && s.text.Len() > 0 {
		s.text.WriteByte('\n') // a step's own sentence; output has its line ends
	}
	s.text.WriteString(text)
	s.fresh = true
	select {
	case s.notice <- struct{}{}:
	default:
	}
}

func (s *signs) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh
}

// take returns what is new as the content and metadata of an event.
func (s *signs) take() (text string, metadata []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = s.text.String()
	s.text.Reset()
	s.fresh = false
	fields := map[string]any{"action": "progress", "done": s.done, "total": s.total}
	if s.cut {
		fields["cut"] = true
	}
	return text, object(fields)
}

func same(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
