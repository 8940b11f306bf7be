package localagent

import (
	"context"
	"fmt"
)

// Resume queues a turn again that waited for a person, when the plan that it prepared is released. CodeUnknown,
// CodeNotWaiting, CodeNotGranted, CodeQueueFull or CodeClosed leave it as it is, and so does the failure to find out.
func (r *Runtime) Resume(ctx context.Context, id string) (Turn, error) {
	const op = "resume a turn of the local agent"
	t, plan, err := r.waiting(op, id)
	if err != nil {
		return Turn{}, err
	}
	if plan == "" {
		return Turn{}, refuse(op, CodeNotGranted)
	}
	released, err := r.cfg.Research.Released(ctx, t.workspace, plan)
	if err != nil {
		return Turn{}, fmt.Errorf("%s: %w", op, err)
	}
	if !released {
		return Turn{}, refuse(op, CodeNotGranted)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.find(op, id); err != nil {
		return Turn{}, err
	}
	switch {
	case r.closed:
		return Turn{}, refuse(op, CodeClosed)
	case t.State != AuthorizationRequired || t.plan != plan:
		return Turn{}, refuse(op, CodeNotWaiting)
	case !r.room():
		return Turn{}, refuse(op, CodeQueueFull)
	}
	t.Pending, t.plan = nil, ""
	t.granted = true
	r.enqueue(t)
	r.tell(KindResumed, t, payload{})
	return t.shown(), nil
}

// waiting returns a turn that waits for a person, and the plan that it waits for.
func (r *Runtime) waiting(op, id string) (*turn, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := r.find(op, id)
	if err != nil {
		return nil, "", err
	}
	if t.State != AuthorizationRequired {
		return nil, "", refuse(op, CodeNotWaiting)
	}
	return t, t.plan, nil
}
