package relational

import (
	"context"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

const insertAudit = `
	INSERT INTO audits (run, noted_tenant, noted_id, at, stage, call_id, user_key, tool, tool_digest, args_digest,
		decision, approval_id, dispatched, is_error, result_digest, duration, gas)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// storeAudits stores the batch's audit records. They belong to the fence's run, whatever they say.
func (p *parcel) storeAudits(t *Tx, r row) error {
	for _, a := range p.batch.Audits {
		if err := t.storeAudit(a, r.place, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// Note stores an audit record that belongs to no run.
func (l *Ledger) Note(ctx context.Context, record run.Audit) error {
	_, err := write(ctx, l, "note audit record", func(t *Tx) (done, error) {
		return done{}, t.storeAudit(record, nil, string(record.Run.Tenant), record.Run.ID)
	})
	return err
}

// storeAudit stores a record of the run at a place, or one that says itself what it belonged to.
func (t *Tx) storeAudit(a run.Audit, place, tenant, id any) error {
	if a.At.IsZero() {
		a.At = t.now
	}
	return t.Later(
		insertAudit, place, tenant, id, micros(a.At), string(a.Stage), a.CallID, a.UserKey, a.Tool, a.ToolDigest,
		a.ArgsDigest, []byte(a.Decision), a.ApprovalID, flag(a.Dispatched), flag(a.IsError), a.ResultDigest, int64(a.Duration),
		a.Gas,
	)
}

// auditSize is about what a record takes: its texts and its numbers.
func auditSize(a run.Audit) int64 {
	const numbers = 32
	size := numbers + len(a.Decision)
	for _, text := range []string{
		string(a.Stage), a.CallID, a.UserKey, a.Tool, a.ToolDigest, a.ArgsDigest, a.ApprovalID, a.ResultDigest,
	} {
		size += len(text)
	}
	return int64(size)
}

const selectAudits = `
	SELECT a.sequence, a.at, a.stage, COALESCE(r.tenant, a.noted_tenant), COALESCE(r.id, a.noted_id), a.call_id, a.user_key, a.tool,
		a.tool_digest, a.args_digest, a.decision, a.approval_id, a.dispatched, a.is_error, a.result_digest, a.duration,
		a.gas
	FROM audits a LEFT JOIN runs r ON r.place = a.run`

// Audits returns audit records in order, of one run or of all.
func (l *Ledger) Audits(ctx context.Context, ref *run.Ref, after int64, limit int) ([]run.Audit, error) {
	where := &conditions{}
	where.add(`a.sequence > ?`, after)
	if ref != nil {
		where.add(`a.run = (SELECT place FROM runs WHERE tenant = ? AND id = ?)`, string(ref.Tenant), ref.ID)
	}
	var audits []run.Audit
	err := l.read(ctx, "read audits", func(snapshot Session) error {
		if err := l.freeze(snapshot, ref); err != nil {
			return err
		}
		rows, err := snapshot.Query(
			selectAudits+where.text()+` ORDER BY a.sequence LIMIT ?`, append(where.args, max(limit, 0))...,
		)
		audits, err = collect(rows, err, scanAudit)
		return err
	})
	return audits, err
}

// freeze waits for records on their way, before all are read: of two at once the later may be there first, and who
// has read that never asks for the earlier again. The records of one run come one after the other.
func (l *Ledger) freeze(snapshot Session, ref *run.Ref) error {
	if ref != nil || l.dialect.Freeze == "" {
		return nil
	}
	_, err := snapshot.Exec(l.dialect.Freeze)
	return err
}

func scanAudit(rows Rows) (run.Audit, error) {
	var (
		a                                run.Audit
		at, duration, dispatched, failed int64
		decision                         []byte
	)
	err := rows.Scan(
		&a.Sequence, &at, &a.Stage, &a.Run.Tenant, &a.Run.ID, &a.CallID, &a.UserKey, &a.Tool, &a.ToolDigest,
		&a.ArgsDigest, &decision, &a.ApprovalID, &dispatched, &failed, &a.ResultDigest, &duration,
		&a.Gas,
	)
	a.Dispatched, a.IsError = dispatched != 0, failed != 0
	a.At, a.Decision, a.Duration = fromMicros(at), decision, time.Duration(duration)
	return a, err
}
