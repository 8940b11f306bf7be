package workbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// HostileReport is what came of what no plugin is asked in daily life.
type HostileReport struct {
	Plugin string        `json:"plugin"`
	Digest string        `json:"digest"`
	OK     bool          `json:"ok"`
	Wall   time.Duration `json:"wall_ns"` // deadline of each call
	Trials []Trial       `json:"trials"`
}

// Trial is one hostile module under the plugin's limits, or one hostile call of the plugin itself.
type Trial struct {
	Name   string        `json:"name"`
	Of     string        `json:"of"` // host: a hostile module; plugin: a hostile call
	About  string        `json:"about"`
	OK     bool          `json:"ok"`
	Ended  string        `json:"ended"` // a stable code, or "answer"
	Took   time.Duration `json:"took_ns"`
	Why    string        `json:"why,omitempty"`    // it is not ok
	Output string        `json:"output,omitempty"` // what the plugin wrote, when it is not ok
}

const (
	// mostHostileWall bounds how long each hostile call may take, whatever the plugin's own limit is.
	mostHostileWall = time.Second
	// grace is how long after its deadline a call must have ended. A loaded machine needs some time to notice.
	grace = time.Second
)

// Hostile tries what no plugin is asked in daily life: modules that break every limit, under the limits that hold for
// this plugin, and calls of the plugin that hold no sense or leave it no room. Each must end in an answer or a stable
// code in time, and the next good call must be answered as before.
func Hostile(ctx context.Context, subject *Subject) (report HostileReport, err error) {
	if err := subject.needCases(); err != nil {
		return HostileReport{}, err
	}
	plan, err := wasm.PlanFor(subject.Module)
	if err != nil {
		return HostileReport{}, err
	}
	limits := plan.Limits
	limits.Wall = min(limits.Wall, sdk.Duration(mostHostileWall))
	s, err := newStand(subject, wasm.Config{})
	if err != nil {
		return HostileReport{}, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	h := &hostility{stand: s, limits: limits, good: subject.Cases[0]}
	if h.before, err = s.run(ctx, h.good); err != nil {
		return HostileReport{}, err
	}
	if err := h.modules(ctx); err != nil {
		return HostileReport{}, err
	}
	if err := h.calls(ctx); err != nil {
		return HostileReport{}, err
	}
	report = HostileReport{
		Plugin: subject.Inspection.Name, Digest: subject.Inspection.Digest, OK: true,
		Wall: time.Duration(limits.Wall), Trials: h.trials,
	}
	for _, trial := range h.trials {
		report.OK = report.OK && trial.OK
	}
	return report, nil
}

// hostility is a plugin under attack.
type hostility struct {
	stand  *stand
	limits sdk.Limits
	good   *Case // what it must answer afterwards,
	before reply // as it did before
	trials []Trial
}

// hostileCall is one call that holds no sense or leaves the plugin no room.
type hostileCall struct {
	name, about string
	op          sdk.Op
	input       []byte
	limits      sdk.Limits
	deadline    time.Duration // of the caller; zero: none
}

// calls makes every hostile call of the plugin itself.
func (h *hostility) calls(ctx context.Context) error {
	for _, call := range hostileCalls(h.good, h.limits) {
		trial := Trial{Name: call.name, Of: "plugin", About: call.about}
		said, err := h.make(ctx, call)
		if err != nil {
			return err
		}
		trial.read(said, time.Duration(call.limits.Wall))
		h.afterwards(ctx, &trial)
		h.trials = append(h.trials, trial)
	}
	return ctx.Err()
}

func (h *hostility) make(ctx context.Context, call hostileCall) (reply, error) {
	if call.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, call.deadline)
		defer cancel()
	}
	asked := *h.good
	asked.Op, asked.Input, asked.Limits = call.op, call.input, call.limits
	return h.stand.run(ctx, &asked)
}

// read judges how a call ended.
func (t *Trial) read(said reply, wall time.Duration) {
	t.Ended, t.Took, t.OK = "answer", said.took, true
	if said.err != nil {
		t.Ended = said.code()
	}
	if said.took > wall+grace {
		t.fail(fmt.Sprintf("it took %s, its deadline was %s", said.took.Round(time.Millisecond), wall))
	}
	var failure *wasm.Failure
	if said.err != nil && !errors.As(said.err, &failure) {
		t.fail("it ended without a stable code: " + said.err.Error())
	}
	if !t.OK {
		t.Output = string(said.output)
	}
}

func (t *Trial) fail(why string) {
	t.OK = false
	if t.Why != "" {
		why = t.Why + "; " + why
	}
	t.Why = why
}

// afterwards makes the good call again, which must end as it did before.
func (h *hostility) afterwards(ctx context.Context, t *Trial) {
	next, err := h.stand.run(ctx, h.good)
	switch {
	case err != nil:
		t.fail(err.Error())
	case next.code() != h.before.code():
		t.fail(fmt.Sprintf("the next good call ended with %s: %v", orAnswer(next.code()), next.err))
	case h.steady() && !bytes.Equal(next.answer, h.before.answer):
		t.fail("the next good call was answered otherwise: " + shortened(string(next.answer)))
	}
}

// steady reports whether the same question must have the same answer.
func (h *hostility) steady() bool { return h.good.Op != sdk.OpCall }
