package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Turn is what a scripted model does when it is asked once.
type Turn struct {
	Reply Reply
	Err   error                       // returned instead of Reply
	Wait  func(context.Context) error // called first when set; its error is returned
}

// Say is a turn that answers with text.
func Say(text string) Turn { return Turn{Reply: Reply{Text: text}} }

// Ask is a turn that asks for tools.
func Ask(calls ...run.ToolCall) Turn { return Turn{Reply: Reply{ToolCalls: calls}} }

// Scripted is a model for tests: it takes its turns in order and keeps what it was asked.
type Scripted struct {
	mu       sync.Mutex
	turns    []Turn
	requests []Request
}

// NewScripted returns a model that takes the turns in order; asked once more, it fails with CodeModelProtocol.
func NewScripted(turns []Turn) *Scripted { return &Scripted{turns: slices.Clone(turns)} }

// Requests returns what the model was asked so far.
func (s *Scripted) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Complete takes the next turn.
func (s *Scripted) Complete(ctx context.Context, request Request, onText func(string)) (Reply, error) {
	turn, err := s.next(request)
	if err != nil {
		return Reply{}, err
	}
	if turn.Wait != nil {
		if err := turn.Wait(ctx); err != nil {
			return Reply{}, err
		}
	}
	if ctx.Err() != nil {
		return Reply{}, fmt.Errorf("complete: %w", context.Cause(ctx))
	}
	if turn.Err != nil {
		return Reply{}, turn.Err
	}
	return turn.Reply.spoken(request, onText), nil
}

func (s *Scripted) next(request Request) (Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request.Messages = slices.Clone(request.Messages)
	s.requests = append(s.requests, request)
	if len(s.turns) == 0 {
		return Turn{}, newError(&failure{code: run.CodeModelProtocol, cause: errors.New("the script is over")}, "")
	}
	turn := s.turns[0]
	s.turns = s.turns[1:]
	return turn, nil
}

// spoken completes a reply that was written by hand and lets onText hear it.
func (r Reply) spoken(request Request, onText func(string)) Reply {
	r.ToolCalls = nameCalls(slices.Clone(r.ToolCalls), request.Messages)
	if r.Model == "" {
		r.Model = request.Model
	}
	if r.FinishReason == "" && len(r.ToolCalls) > 0 {
		r.FinishReason = FinishCalls
	}
	if r.FinishReason == "" {
		r.FinishReason = FinishStop
	}
	if onText != nil && r.Text != "" {
		onText(r.Text)
	}
	return r
}
