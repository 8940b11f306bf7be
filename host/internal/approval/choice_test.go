package approval

import (
	"errors"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
)

func TestAnAnswerAboutAnUnknownOutcomeChooses(t *testing.T) {
	for name, c := range map[string]struct {
		approve bool
		choice  run.Choice
		status  run.ApprovalStatus
		chosen  run.Choice
		code    run.Code
	}{
		"retry":                {true, run.Retry, run.Approved, run.Retry, ""},
		"treat as done":        {true, run.TreatAsDone, run.Approved, run.TreatAsDone, ""},
		"approve the abort":    {true, run.Abort, run.Denied, run.Abort, ""},
		"deny":                 {false, "", run.Denied, run.Abort, ""},
		"deny and abort":       {false, run.Abort, run.Denied, run.Abort, ""},
		"approve, no choice":   {true, "", run.Pending, "", run.CodeChoice},
		"deny and go on":       {false, run.Retry, run.Pending, "", run.CodeInvalid},
		"approve what is none": {true, "again", run.Pending, "", run.CodeInvalid},
	} {
		o := newOffice()
		a := o.askAbout(run.UnknownOutcome)
		_, err := o.desk.Answer(t.Context(), run.Answer{ID: a.ID, Approve: c.approve, Choice: c.choice})
		if c.code == "" && err != nil || c.code != "" && !run.IsCode(err, c.code) {
			t.Errorf("%s: error %v", name, err)
		}
		if got := o.get(t, a.ID); got.Status != c.status || got.Choice != c.chosen {
			t.Errorf("%s: %s with choice %q", name, got.Status, got.Choice)
		}
	}
}

func TestAPermissionHasNothingToChoose(t *testing.T) {
	o := newOffice()
	a := o.ask()
	_, err := o.desk.Answer(t.Context(), run.Answer{ID: a.ID, Approve: true, Choice: run.Retry})
	if !run.IsCode(err, run.CodeInvalid) || o.get(t, a.ID).Status != run.Pending {
		t.Errorf("error %v", err)
	}
}

func TestOnlyWhatRunsAgainIsRechecked(t *testing.T) {
	for choice, asked := range map[run.Choice]bool{run.Retry: true, run.TreatAsDone: false, run.Abort: false} {
		o := newOffice()
		o.rechecker.err = errors.New("asked")
		a := o.askAbout(run.UnknownOutcome)
		if _, err := o.desk.Answer(t.Context(), run.Answer{ID: a.ID, Approve: true, Choice: choice}); (err != nil) != asked {
			t.Errorf("%s: error %v", choice, err)
		}
	}
}

func TestAnotherChoiceIsAnotherAnswer(t *testing.T) {
	o := newOffice()
	a := o.askAbout(run.UnknownOutcome)
	for choice, code := range map[run.Choice]run.Code{run.Retry: run.CodeApprovalSettled, run.TreatAsDone: ""} {
		if _, err := o.desk.Answer(t.Context(), run.Answer{ID: a.ID, Approve: true, Choice: run.TreatAsDone}); err != nil {
			t.Fatal(err)
		}
		_, err := o.desk.Answer(t.Context(), run.Answer{ID: a.ID, Approve: true, Choice: choice})
		if code == "" && err != nil || code != "" && !run.IsCode(err, code) {
			t.Errorf("%s: error %v", choice, err)
		}
	}
}

func TestARefusalIsHeardAgainUnderItsKey(t *testing.T) {
	o := newOffice()
	o.rechecker.err = &run.Error{Code: run.CodeApprovalStale, Sentence: "Changed."}
	answer := run.Answer{ID: o.ask().ID, Approve: true, Idempotency: run.Idempotency{Key: "k", Digest: "one"}}
	for range 2 {
		got, err := o.desk.Answer(t.Context(), answer)
		if !run.IsCode(err, run.CodeApprovalStale) || got.Status != run.ApprovalCancelled {
			t.Errorf("status %s, error %v", got.Status, err)
		}
	}
}
