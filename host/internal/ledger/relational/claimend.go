package relational

import (
	"github.com/fastreact/fastreact/host/internal/run"
)

// nobodys is a run without an owner, which may be claimed at once.
const nobodys = `owner = '', lease_until = 0, not_before = 0`

// A run that was begun is not queued again: it goes on from where it was.
const releaseRun = `
	UPDATE runs SET ` + nobodys + `, phase = CASE status WHEN 'running' THEN 'ready' ELSE '' END WHERE place = ?`

// endClaim parks, releases or finishes the run when the batch says so.
func (p *parcel) endClaim(t *Tx, r row) error {
	switch {
	case p.batch.Park:
		return p.park(t, r)
	case p.batch.Release:
		t.news.Work = true
		return t.Later(releaseRun, r.place)
	case p.batch.Finish != nil:
		return p.finish(t, r)
	}
	return nil
}

// park ends the claim of a run that waits for people.
func (p *parcel) park(t *Tx, r row) error {
	if r.status != run.Running {
		return misuse("a run cannot be parked while it is " + string(r.status))
	}
	rows, err := t.Query(
		`UPDATE runs SET `+nobodys+`, phase = CASE
			WHEN EXISTS (SELECT 1 FROM approvals WHERE run = ?1 AND status = 'pending') THEN 'awaiting_approval'
			ELSE 'ready' END
		WHERE place = ?1 RETURNING CASE phase WHEN 'ready' THEN 1 ELSE 0 END`, r.place,
	)
	ready, err := first(rows, err, number)
	t.news.Work = ready != 0
	return err
}

const finishRun = `
	UPDATE runs SET ` + nobodys + `, status = ?1, phase = '', finished_at = ?2, body_bytes = body_bytes + ?3,
		prompt_tokens = ?4, completion_tokens = ?5, total_tokens = ?6
	WHERE place = ?7`

func (p *parcel) finish(t *Tx, r row) error {
	end := p.batch.Finish
	if !r.status.CanBecome(end.Status) {
		return misuse("a run that is " + string(r.status) + " cannot become " + string(end.Status))
	}
	var usage run.Usage
	if end.Outcome.Usage != nil {
		usage = *end.Outcome.Usage
	}
	err := t.Later(
		finishRun, string(end.Status), micros(t.now), len(p.outcome),
		usage.PromptTokens, usage.CompletionTokens, usage.TotalTokens, r.place,
	)
	if err != nil {
		return err
	}
	if err := t.Later(`UPDATE run_bodies SET outcome = ? WHERE run = ?`, p.outcome, r.place); err != nil {
		return err
	}
	if err := t.wakeSession(r.place); err != nil {
		return err
	}
	return t.settleRun(r.place, run.Resolution{Status: run.ApprovalCancelled, Reason: "run_finished"})
}
