package agent

import (
	"context"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/release"
	"github.com/fastreact/fastreact/host/internal/run"
)

// livePause is the least time between two parts that are released while the model still writes.
const livePause = 250 * time.Millisecond

// live releases an answer while the model still writes it: only in a step without tools, where every word can be
// nothing but the answer. It belongs to the goroutine that asks the model.
type live struct {
	drive   *drive
	check   *release.Check     // nil when answers are not checked
	stop    context.CancelFunc // ends the model call
	pending string             // heard, not released
	last    time.Time
	held    bool // something must not leave: the rest waits for the whole answer
	err     error
}

// unstoredError is a failure of the ledger while the model wrote, and none of the model's.
type unstoredError struct{ error }

// Unwrap returns what the ledger said.
func (e unstoredError) Unwrap() error { return e.error }

// complete asks the model, and lets readers hear an answer in parts where that is safe.
func (d *drive) complete(ctx context.Context, request model.Request) (model.Reply, error) {
	if !d.run.Request.StreamDeltas || len(request.Tools) > 0 || d.story.released != "" || d.profile.Name != "" {
		return d.consult(ctx, request, nil)
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	l := &live{drive: d, stop: stop}
	if !d.cfg.UncheckedAnswers {
		l.check = d.check(ctx)
	}
	reply, err := d.consult(asking, request, func(text string) { l.hear(ctx, text) })
	if l.err != nil {
		return model.Reply{}, unstoredError{l.err}
	}
	return reply, err
}

// hear takes more of the answer and releases the sentences that are whole, up to the first that must not leave. ctx is
// the drive's, not the model call's.
func (l *live) hear(ctx context.Context, text string) {
	l.pending += text
	if l.held || l.err != nil || time.Since(l.last) < livePause {
		return
	}
	ready := l.ready()
	if ready == "" {
		return
	}
	l.last, l.pending = time.Now(), l.pending[len(ready):]
	l.err = l.drive.append(ctx, ledger.Batch{Events: []run.Event{{Kind: run.AnswerDelta, Content: ready}}})
	if l.err != nil {
		l.stop()
	}
}

// ready is what may be released: whole sentences, and nothing behind one that must not leave.
func (l *live) ready() string {
	sentences := release.Sentences(l.pending)
	if len(sentences) == 0 {
		return ""
	}
	size := len(l.pending) - len(sentences[len(sentences)-1]) // the last may go on
	ready := l.pending[:size]
	if l.check == nil || len(l.check.Find(ready)) == 0 {
		return ready
	}
	l.held = true
	size = 0
	for _, sentence := range sentences {
		if len(l.check.Find(sentence)) > 0 {
			break
		}
		size += len(sentence)
	}
	return l.pending[:size]
}

// behind is what follows the parts that were released already. An answer that does not begin with them, after a crash
// or where the vendor withheld it half way, follows as a paragraph of its own: what was sent cannot be taken back.
func (s story) behind(text string) string {
	rest, goesOn := strings.CutPrefix(text, s.released)
	switch {
	case goesOn:
		return rest
	case strings.HasSuffix(s.released, "\n"):
		return text
	}
	return "\n\n" + text
}
