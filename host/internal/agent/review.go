package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/executor"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/release"
	"github.com/fastreact/fastreact/host/internal/run"
)

// stopFallback is the stop reason of a run whose exit released no draft.
const stopFallback = "fallback"

// The stages of a review, as readers know them.
const (
	verifying = "verifying" // a draft is looked at
	repairing = "repairing" // it was not released
)

// noText stands in the conversation for a draft without text: vendors take no empty message.
const noText = "(no text)"

// review is an answer on its way through the exit. It is kept in the event that tells of it, the draft and the advice
// in its memo, so that a resumed run goes on with the same ones.
type review struct {
	Stage string `json:"stage"`
	Round int    `json:"round"`

	draft string // the last one
}

// submit makes a reply the draft of a round.
func (d *drive) submit(ctx context.Context, reply model.Reply, round int) error {
	message := reply.Message()
	message.ToolCalls = nil
	event, err := reviewEvent(review{Stage: verifying, Round: round}, message)
	if err != nil {
		return err
	}
	return d.append(ctx, ledger.Batch{Events: []run.Event{stepEvent(reply), event}})
}

// reviewEvent tells that a review came to a stage. What was said there stays private.
func reviewEvent(at review, said run.Message) (run.Event, error) {
	memo, err := json.Marshal(said)
	if err != nil {
		return run.Event{}, fmt.Errorf("write memo: %w", err)
	}
	return run.Event{
		Kind: run.AnswerReview, Memo: memo, Metadata: object(map[string]any{"stage": at.Stage, "round": at.Round}),
	}, nil
}

// heardReview makes a draft, or the advice about it, part of the story.
func (s *story) heardReview(event run.Event) error {
	var at review
	if err := json.Unmarshal(event.Metadata, &at); err != nil {
		return fmt.Errorf("read review: %w", err)
	}
	var message run.Message
	if err := json.Unmarshal(event.Memo, &message); err != nil {
		return fmt.Errorf("read memo: %w", err)
	}
	if at.Stage == verifying {
		at.draft = message.Content
	}
	s.review = &at
	if strings.TrimSpace(message.Content) == "" {
		message.Content = noText
	}
	s.said(event, message)
	return nil
}

// review takes the next step of a review: to look at the draft, to say what is wrong with it, or to have it written
// again. Whatever keeps a draft back, the steps and the end are the same.
func (d *drive) review(ctx context.Context) (finished bool, err error) {
	at := *d.story.review
	results, err := d.results(ctx)
	if err != nil {
		return false, err
	}
	seen, err := d.consultExit(ctx, at, results)
	if err != nil {
		outcome, err := d.broken(ctx, err)
		return outcome == Finished, err
	}
	switch {
	case seen.ruling.Released && seen.ruling.Text != "":
		return true, d.finish(ctx, answer{text: seen.ruling.Text, reason: model.FinishStop})
	case at.Stage == verifying && at.Round <= max(seen.repairs, 1):
		event, err := reviewEvent(review{Stage: repairing, Round: at.Round}, run.Message{
			Role: run.User, Content: seen.ruling.Advice,
		})
		if err != nil {
			return false, err
		}
		return false, d.append(ctx, ledger.Batch{Events: []run.Event{event}})
	case at.Stage == repairing && at.Round <= seen.repairs:
		return d.repair(ctx, at.Round+1)
	}
	return true, d.finish(ctx, answer{text: seen.fallback, reason: stopFallback})
}

// consulted is what an exit said.
type consulted struct {
	ruling   release.Ruling
	repairs  int
	fallback string
}

// consultExit asks the exit everything at once. While a draft is being written again there is none to judge.
func (d *drive) consultExit(ctx context.Context, at review, results []run.Event) (said consulted, err error) {
	err = executor.Contain(func() error {
		exit := d.profile.Exit
		said.repairs, said.fallback = exit.Repairs(), exit.Fallback()
		if at.Stage == verifying {
			said.ruling = exit.Judge(ctx, release.Draft{
				Run: d.run, Question: d.run.Request.Query(), Text: at.draft, Round: at.Round, Results: results,
			})
		}
		return nil
	})
	return said, err
}

// repair has the draft written again, without tools: what is not known by now stays unknown.
func (d *drive) repair(ctx context.Context, round int) (finished bool, err error) {
	if ended, err := d.fit(ctx); ended || err != nil {
		return ended, err
	}
	request := d.ask()
	request.Tools = nil
	reply, err := d.consult(ctx, request, nil)
	if err != nil {
		return d.unheard(ctx, err)
	}
	return false, d.submit(ctx, reply, round)
}

// results are the results of the run's tools, whole and in order.
func (d *drive) results(ctx context.Context) ([]run.Event, error) {
	var results []run.Event
	err := eachPage(ctx, d.cfg.Ledger, d.run.Ref, func(events []run.Event) error {
		for _, event := range events {
			if event.Kind == run.ToolResult {
				results = append(results, event)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("gather results: %w", err)
	}
	return results, nil
}
