package relational

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func runExists(op string) error {
	return &run.Error{Code: run.CodeRunExists, Sentence: "Run already exists", Op: op, Cause: ledger.ErrExists}
}

const selectRuns = runColumns + `, b.request, b.outcome` + runTables

// listRuns leaves out what may be as long as a request: a thousand of them would not fit into memory.
const listRuns = runColumns + `, b.listing, b.outcome` + runTables

const (
	runColumns = `
	SELECT r.tenant, r.id, r.session_id, r.kind, r.status, r.phase, r.created_at, r.started_at, r.finished_at,
		r.next_seq, r.first_seq, r.attempts, r.barren, r.cancel, r.owner, r.epoch, r.lease_until, r.not_before`
	runTables = `
	FROM runs r JOIN run_bodies b ON b.run = r.place`
)

const oneRun = selectRuns + ` WHERE r.tenant = ? AND r.id = ?`

// Run returns one run.
func (l *Ledger) Run(ctx context.Context, ref run.Ref) (run.Run, error) {
	const op = "read run"
	var r run.Run
	err := l.read(ctx, op, func(snapshot Session) error {
		rows, err := snapshot.Query(oneRun, string(ref.Tenant), ref.ID)
		r, err = first(rows, err, scanRun)
		return orUnknown(err, unknownRun(op))
	})
	return r, err
}

// find returns a run inside a write.
func (t *Tx) find(ref run.Ref) (run.Run, error) {
	rows, err := t.Query(oneRun, string(ref.Tenant), ref.ID)
	r, err := first(rows, err, scanRun)
	return r, orUnknown(err, unknownRun(t.op))
}

// Keyed returns the run that was asked for under an idempotency key.
func (l *Ledger) Keyed(ctx context.Context, tenant run.TenantKey, userKey, key string) (run.Run, error) {
	const op = "read run by idempotency key"
	var r run.Run
	err := l.read(ctx, op, func(snapshot Session) error {
		rows, err := snapshot.Query(selectRuns+`
			JOIN idempotency k ON k.run = r.place WHERE k.tenant = ? AND k.user_key = ? AND k.key = ?`,
			string(tenant), userKey, key)
		r, err = first(rows, err, scanRun)
		return orUnknown(err, unknownRun(op))
	})
	return r, err
}

// Runs lists runs, newest first, without what may be as long as a request.
func (l *Ledger) Runs(ctx context.Context, filter run.Filter) (run.Page[run.Run], error) {
	where := runConditions(filter)
	var page run.Page[run.Run]
	err := l.read(ctx, "list runs", func(snapshot Session) error {
		rows, err := snapshot.Query(`SELECT COUNT(*) FROM runs r`+where.text(), where.args...)
		err = fill(rows, err, &page.Total)
		if err != nil || filter.Limit <= 0 {
			return err
		}
		rows, err = snapshot.Query(
			listRuns+where.text()+` ORDER BY r.created_at DESC, r.place DESC LIMIT ?`,
			append(where.args, filter.Limit)...,
		)
		page.Items, err = collect(rows, err, scanRun)
		return err
	})
	return page, err
}

func runConditions(filter run.Filter) *conditions {
	where := &conditions{}
	if filter.Tenant != nil {
		where.add(`r.tenant = ?`, string(*filter.Tenant))
	}
	where.equal(`r.id`, filter.ID)
	where.equal(`r.status`, string(filter.Status))
	where.equal(`r.session_id`, filter.SessionID)
	where.equal(`r.user_key`, filter.UserKey)
	where.equal(`r.kind`, string(filter.Kind))
	return where
}

func scanRun(rows Rows) (run.Run, error) {
	var (
		r                         run.Run
		created, lease, notBefore int64
		started, finished         *int64
		request, outcome          []byte
	)
	err := rows.Scan(
		&r.Tenant, &r.ID, &r.SessionID, &r.Kind, &r.Status, &r.Phase, &created, &started, &finished,
		&r.NextSeq, &r.FirstSeq, &r.Attempts, &r.Barren, &r.Cancel, &r.Owner, &r.Epoch, &lease, &notBefore,
		&request, &outcome,
	)
	if err != nil {
		return run.Run{}, err
	}
	r.CreatedAt, r.StartedAt, r.FinishedAt = fromMicros(created), fromOptional(started), fromOptional(finished)
	if r.Owner != "" && lease != 0 {
		r.LeaseUntil = fromOptional(&lease)
	}
	if notBefore != 0 {
		r.NotBefore = fromOptional(&notBefore)
	}
	return r, errors.Join(json.Unmarshal(request, &r.Request), json.Unmarshal(outcome, &r.Outcome))
}

func scanRef(rows Rows) (ref run.Ref, err error) {
	err = rows.Scan(&ref.Tenant, &ref.ID)
	return ref, err
}
