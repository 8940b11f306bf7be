package approval

import (
	"context"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Answer takes a person's answer. The same answer again returns the same record; another, or any after the approval
// expired or was cancelled, is a *run.Error with CodeApprovalSettled. What lets the call run is taken only when today's
// policy and tools still say that exactly this call may; otherwise the record ends cancelled and the error is a
// *run.Error with CodeApprovalStale or CodePolicyDenied. The record is returned beside these errors.
//
// About an unknown outcome an approve must choose (CodeChoice), and a denial means to abort; about a permission there is
// nothing to choose (CodeInvalid). A key that was used for another request is CodeKeyReused.
func (d *Desk) Answer(ctx context.Context, answer run.Answer) (run.Approval, error) {
	a, err := d.Get(ctx, answer.ID)
	if err != nil {
		return run.Approval{}, err
	}
	wish, err := wished(a.Kind, answer)
	switch {
	case err != nil:
		return a, err
	case a.Status.Settled() && wish.Idempotency.Key == "":
		return settled(a, wish)
	case a.Status.Settled() || !runsAgain(a.Kind, wish):
		return d.resolve(ctx, wish)
	}
	refused := d.recheck(ctx, a)
	code, _ := run.Public(refused)
	switch {
	case refused == nil:
		return d.resolve(ctx, wish)
	case !refusal(code):
		return a, refused
	}
	wish.Status, wish.Reason, wish.Choice = run.ApprovalCancelled, string(code), ""
	a, err = d.resolve(ctx, wish)
	if err != nil {
		return a, err
	}
	return a, refused
}

// wished is what an answer would make of an approval.
func wished(kind run.ApprovalKind, answer run.Answer) (run.Resolution, error) {
	wish := run.Resolution{
		ID: answer.ID, Status: run.Denied, By: answer.By, Reason: answer.Reason, Choice: answer.Choice,
		Idempotency: answer.Idempotency,
	}
	if answer.Approve && answer.Choice != run.Abort {
		wish.Status = run.Approved
	}
	switch {
	case kind != run.UnknownOutcome && answer.Choice != "":
		return wish, unfit(run.CodeInvalid, "There is nothing to choose: approve or deny this request.")
	case kind != run.UnknownOutcome:
		return wish, nil
	case answer.Approve && answer.Choice == "":
		return wish, unfit(run.CodeChoice, "Say what to do about the unknown outcome: retry, treat_as_done or abort.")
	case !answer.Approve && answer.Choice == "":
		wish.Choice = run.Abort
		return wish, nil
	}
	return wish, suits(answer)
}

// suits refuses what is no choice, and a denial that chooses to go on.
func suits(answer run.Answer) error {
	goesOn := answer.Choice == run.Retry || answer.Choice == run.TreatAsDone
	if answer.Choice == run.Abort || goesOn && answer.Approve {
		return nil
	}
	return unfit(run.CodeInvalid, "This choice does not go with this answer.")
}

func unfit(code run.Code, sentence string) error {
	return &run.Error{Code: code, Sentence: sentence, Op: "answer approval"}
}

// runsAgain reports whether the wish lets a call out, which policy must allow today.
func runsAgain(kind run.ApprovalKind, wish run.Resolution) bool {
	return wish.Status == run.Approved && (kind != run.UnknownOutcome || wish.Choice == run.Retry)
}

// refusal reports whether a code says that a call may not run any more.
func refusal(code run.Code) bool {
	return code == run.CodeApprovalStale || code == run.CodePolicyDenied
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
	a, changed, err := d.cfg.Store.Resolve(ctx, wish)
	if err != nil {
		return run.Approval{}, fmt.Errorf("resolve approval %s: %w", wish.ID, err)
	}
	if changed {
		return a, nil
	}
	if !a.Status.Settled() {
		if a, err = d.expire(ctx, a.ID); err != nil {
			return run.Approval{}, err
		}
	}
	return settled(a, wish)
}

// settled answers for an approval that is over: fine when it ended as wished. A request that comes again under its key
// hears what it heard before, a refusal too.
func settled(a run.Approval, wish run.Resolution) (run.Approval, error) {
	if a.Status == wish.Status && a.Choice == wish.Choice {
		return a, nil
	}
	over := &run.Error{
		Code:     run.CodeApprovalSettled,
		Sentence: fmt.Sprintf("The approval request is already %s.", a.Status),
		Op:       "answer approval",
	}
	if a.Status == wish.Status {
		over.Sentence = fmt.Sprintf("The approval request is already %s with the choice %s.", a.Status, a.Choice)
	}
	if ended := run.Code(a.Resolution); wish.Idempotency.Key != "" && a.Status == run.ApprovalCancelled && refusal(ended) {
		over.Code, over.Sentence = ended, "The call may not run any more: the approval request is cancelled."
	}
	return a, over
}
