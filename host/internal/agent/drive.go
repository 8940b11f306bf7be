package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/release"
	"github.com/fastreact/fastreact/host/internal/run"
)

const (
	pageSize      = 1000             // events read at a time
	commitTimeout = 10 * time.Second // of one batch
)

// drive is one run while it is being driven.
type drive struct {
	cfg      Config
	run      run.Run
	profile  Profile        // the agent's own where the run names none
	policy   run.ToolPolicy // the request's, within the profile
	story    story
	visible  []run.Tool
	names    []release.Tool          // of every tool there is, once an answer was looked through
	verdicts map[string]gate.Verdict // of this drive, by call id
	marks    map[string][]string     // of calls that were open when the drive began and had left, see recallMarks
}

// recall rebuilds a run from its events.
func (a *Agent) recall(ctx context.Context, r run.Run) (*drive, error) {
	d := &drive{
		cfg: a.cfg, run: r, verdicts: map[string]gate.Verdict{}, story: newStory(a.cfg.MaxResultBytes),
		policy: r.Request.ToolPolicy,
	}
	if err := eachPage(ctx, a.cfg.Ledger, r.Ref, d.story.hear); err != nil {
		return nil, fmt.Errorf("recall run: %w", err)
	}
	if err := d.recallMarks(ctx); err != nil {
		return nil, fmt.Errorf("recall run: %w", err)
	}
	return d, nil
}

// eachPage hands over the events of a run in order, a page at a time.
func eachPage(ctx context.Context, log Ledger, ref run.Ref, take func([]run.Event) error) error {
	for after := int64(-1); ; {
		events, err := log.Events(ctx, ref, after, pageSize)
		if err != nil {
			return err
		}
		if err := take(events); err != nil {
			return err
		}
		if len(events) < pageSize {
			return nil
		}
		after = events[len(events)-1].Sequence
	}
}

// advance takes steps until the run is finished or parked.
func (d *drive) advance(ctx context.Context) (Outcome, error) {
	if d.story.over {
		return Finished, nil
	}
	routed, err := d.settleProfile(ctx)
	if err != nil {
		return d.broken(ctx, err)
	}
	d.visible = d.cfg.Gate.Visible(ctx, d.policy)
	if !d.story.started {
		if err := d.begin(ctx, routed); err != nil {
			return 0, err
		}
	}
	for {
		if outcome, err := d.settle(ctx); outcome != 0 || err != nil {
			return outcome, err
		}
		finished, err := d.step(ctx)
		if err != nil {
			return 0, err
		}
		if finished {
			return Finished, nil
		}
	}
}

// append commits a batch and makes its events part of the story. It writes nothing once ctx has ended; a commit that
// is under way is waited for, because whoever ends the run must know whether it was parked or finished by it.
func (d *drive) append(ctx context.Context, batch ledger.Batch) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	batch = d.addressed(batch)
	committing, stop := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer stop()
	events, err := d.cfg.Ledger.Append(committing, d.run.Fence(), batch)
	if err != nil {
		return fmt.Errorf("append to run: %w", err)
	}
	return d.story.hear(events)
}

// addressed makes the events of a batch the run's.
func (d *drive) addressed(batch ledger.Batch) ledger.Batch {
	for i := range batch.Events {
		batch.Events[i].Ref, batch.Events[i].SessionID = d.run.Ref, d.run.SessionID
	}
	return batch
}
