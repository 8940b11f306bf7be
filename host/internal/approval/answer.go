package approval

import (
	"context"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Answer takes a person's answer. The same answer again returns the same record; the opposite one, or any after the
// approval expired or was cancelled, is a *run.Error with CodeApprovalSettled. An approve is taken only when today's
// policy and tools still say that exactly this call may run; otherwise the record ends cancelled and the error is a
// *run.Error with CodeApprovalStale or CodePolicyDenied. The record is returned beside these errors.
func (d *Desk) Answer(ctx context.Context, id string, approve bool, by, reason string) (run.Approval, error) {
	a, err := d.Get(ctx, id)
	if err != nil {
		return run.Approval{}, err
	}
	wish := run.Resolution{ID: id, Status: run.Denied, By: by, Reason: reason}
	if approve {
		wish.Status = run.Approved
	}
	if a.Status.Settled() {
		return settled(a, wish.Status)
	}
	if !approve {
		return d.resolve(ctx, wish)
	}
	refused := d.recheck(ctx, a)
	code, _ := run.Public(refused)
	switch {
	case refused == nil:
		return d.resolve(ctx, wish)
	case code != run.CodeApprovalStale && code != run.CodePolicyDenied:
		return a, refused
	}
	wish.Status, wish.Reason = run.ApprovalCancelled, string(code)
	a, err = d.resolve(ctx, wish)
	if err != nil {
		return a, err
	}
	return a, refused
}

// recheck asks whether the call may still run.
func (d *Desk) recheck(ctx context.Context, a run.Approval) error {
	r, err := d.cfg.Runs.Run(ctx, a.Run)
	if err != nil {
		return fmt.Errorf("read run of approval %s: %w", a.ID, err)
	}
	return d.cfg.Rechecker.Recheck(ctx, r, a)
}

// resolve settles a pending approval. When somebody was faster, or time was, their word stands.
func (d *Desk) resolve(ctx context.Context, wish run.Resolution) (run.Approval, error) {
	wish.At = d.now()
	a, changed, err := d.cfg.Store.Resolve(ctx, wish)
	if err != nil {
		return run.Approval{}, fmt.Errorf("resolve approval %s: %w", wish.ID, err)
	}
	if changed {
		return a, nil
	}
	if !a.Status.Settled() {
		if a, err = d.expire(ctx, a); err != nil {
			return run.Approval{}, err
		}
	}
	return settled(a, wish.Status)
}

// settled answers for an approval that is over: fine when it ended as wished.
func settled(a run.Approval, wish run.ApprovalStatus) (run.Approval, error) {
	if a.Status == wish {
		return a, nil
	}
	return a, &run.Error{
		Code:     run.CodeApprovalSettled,
		Sentence: fmt.Sprintf("The approval request is already %s.", a.Status),
		Op:       "answer approval",
	}
}
