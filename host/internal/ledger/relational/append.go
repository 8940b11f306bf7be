package relational

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/failpoint"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Append commits one batch under the fence. An approval that is still pending when the run finishes is cancelled with
// it.
func (l *Ledger) Append(ctx context.Context, fence run.Fence, batch ledger.Batch) ([]run.Event, error) {
	const op = "append to run"
	p, err := pack(fence, batch)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	events, err := transact(ctx, l, op, p.store)
	if err == nil && len(events) > 0 {
		failpoint.Wrote(fence.ID, fence.Epoch, events[0].Sequence)
	}
	return events, err
}

// parcel is a batch made ready by its caller, so that the writer only has to store it.
type parcel struct {
	fence     run.Fence
	batch     ledger.Batch
	entries   []entry
	approvals []json.RawMessage // their decisions
	sums      sums
	outcome   []byte
}

// sums is what a batch adds to its run's row.
type sums struct {
	eventBytes, errors, audits, auditBytes, decisions, calls, callTime int64
}

func pack(fence run.Fence, batch ledger.Batch) (*parcel, error) {
	if err := sound(batch); err != nil {
		return nil, err
	}
	p := &parcel{fence: fence, batch: batch}
	var err error
	if p.entries, err = entries(batch.Events); err != nil {
		return nil, err
	}
	for _, approval := range batch.Approvals {
		decision, err := encode(approval.Decision)
		if err != nil {
			return nil, err
		}
		p.approvals = append(p.approvals, decision)
	}
	if batch.Finish != nil {
		if p.outcome, err = encode(batch.Finish.Outcome); err != nil {
			return nil, err
		}
	}
	p.sums = p.sum()
	return p, nil
}

// sound refuses batches that contradict themselves.
func sound(batch ledger.Batch) error {
	ends := 0
	for _, ended := range []bool{batch.Park, batch.Release, batch.Finish != nil} {
		if ended {
			ends++
		}
	}
	switch {
	case ends > 1:
		return misuse("a batch ends its claim in one way only")
	case batch.Finish != nil && !batch.Finish.Status.Terminal():
		return misuse("a run cannot finish as " + string(batch.Finish.Status))
	case batch.Settle != nil && (!batch.Settle.Status.Settled() || !batch.Settle.Status.Valid()):
		return misuse("an approval cannot be settled as " + string(batch.Settle.Status))
	case batch.Settle != nil && batch.Settle.Status == run.Approved:
		return misuse("only a person approves, one call at a time")
	}
	for _, approval := range batch.Approvals {
		if approval.Status != run.Pending && approval.Status != "" {
			return misuse("an approval is opened pending, not " + string(approval.Status))
		}
	}
	return nil
}

func (p *parcel) sum() sums {
	var s sums
	for _, e := range p.entries {
		s.eventBytes += int64(len(e.payload))
		if e.event.Kind == run.Errored {
			s.errors++
		}
	}
	s.audits = int64(len(p.batch.Audits))
	for _, a := range p.batch.Audits {
		s.auditBytes += auditSize(a)
		switch a.Stage {
		case run.Decided:
			s.decisions++
		case run.Ended:
			s.calls++
			s.callTime += int64(a.Duration)
		}
	}
	return s
}

// The fence and the sequence are one statement: who may not write gets no number. An event ends the pause that came
// with a claim.
const (
	advance = `
	UPDATE runs SET next_seq = next_seq + ?1, event_bytes = event_bytes + ?2, errors = errors + ?3,
		audits = audits + ?4, audit_bytes = audit_bytes + ?5, decisions = decisions + ?6, calls = calls + ?7,
		call_time = call_time + ?8, not_before = CASE WHEN ?1 > 0 THEN 0 ELSE not_before END`
	advanced   = ` RETURNING place, session_id, status, next_seq - ?1`
	advanceRun = advance + `
	WHERE tenant = ?9 AND id = ?10 AND owner = ?11 AND owner <> '' AND epoch = ?12 AND finished_at IS NULL` + advanced
	advanceUnfenced = advance + `
	WHERE tenant = ?9 AND id = ?10 AND finished_at IS NULL` + advanced
	advanceUndriven = advance + `
	WHERE place = ?9 AND finished_at IS NULL` + advanced
)

// row is the run's row as the fence found it.
type row struct {
	place     int64
	sessionID string
	status    run.Status
	next      int64 // sequence of the batch's first event
}

func scanRow(rows Rows) (r row, err error) {
	err = rows.Scan(&r.place, &r.sessionID, &r.status, &r.next)
	return r, err
}

// fenceRule is that only the latest claim writes. A test shows what happens without it.
const fenceRule = "fence"

// store commits the parcel under its fence.
func (p *parcel) store(t *Tx) ([]run.Event, error) {
	statement, args := advanceRun, []any{string(p.fence.Tenant), p.fence.ID, p.fence.Owner, p.fence.Epoch}
	if failpoint.Off(fenceRule) {
		statement, args = advanceUnfenced, args[:2]
	}
	events, err := p.add(t, statement, args...)
	return events, orUnknown(err, ledger.ErrFenced)
}

// close commits the parcel to a run that nobody drives and whose row is locked.
func (p *parcel) close(t *Tx, place int64) ([]run.Event, error) {
	return p.add(t, advanceUndriven, place)
}

// add stores all parts of the parcel, or returns errNone when the statement finds no run that it may advance.
func (p *parcel) add(t *Tx, statement string, of ...any) ([]run.Event, error) {
	s := p.sums
	args := []any{len(p.entries), s.eventBytes, s.errors, s.audits, s.auditBytes, s.decisions, s.calls, s.callTime}
	rows, err := t.Query(statement, append(args, of...)...)
	r, err := first(rows, err, scanRow)
	if err != nil {
		return nil, err
	}
	if err := t.look(); err != nil {
		return nil, err
	}
	t.news.Changed = []run.Ref{p.fence.Ref}
	events, err := p.storeEvents(t, r)
	if err != nil {
		return nil, err
	}
	for _, part := range []func(*Tx, row) error{p.settle, p.openApprovals, p.storeAudits, p.endClaim} {
		if err := part(t, r); err != nil {
			return nil, err
		}
	}
	return events, nil
}

func (p *parcel) storeEvents(t *Tx, r row) ([]run.Event, error) {
	events := make([]run.Event, len(p.entries))
	for i, e := range p.entries {
		e.event.Ref, e.event.SessionID = p.fence.Ref, r.sessionID
		e.event.Sequence, e.event.Time = r.next+int64(i), t.now
		err := t.Later(
			`INSERT INTO events (run, sequence, time, kind, payload) VALUES (?, ?, ?, ?, ?)`,
			r.place, e.event.Sequence, micros(t.now), string(e.event.Kind), e.payload,
		)
		if err != nil {
			return nil, err
		}
		events[i] = e.event
	}
	return events, nil
}
