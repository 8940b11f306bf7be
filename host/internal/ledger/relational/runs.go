package relational

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

const insertRun = `
	INSERT INTO runs (tenant, id, session_id, user_key, kind, status, owner, keeper, epoch, attempts,
		created_at, started_at, body_bytes, in_turn)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING place`

// Create stores a new run.
func (l *Ledger) Create(ctx context.Context, r run.Run) error {
	const op = "create run"
	if err := creatable(r); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	request, err := encode(r.Request)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	_, err = write(ctx, l, op, func(t *Tx) (done, error) { return done{}, t.create(r, request) })
	return err
}

func (t *Tx) create(r run.Run, request []byte) error {
	if r.CreatedAt.IsZero() {
		r.CreatedAt = t.now
	}
	if r.Status == run.Running && r.StartedAt == nil {
		r.StartedAt = &r.CreatedAt
	}
	rows, err := t.Query(
		insertRun, string(r.Tenant), r.ID, r.SessionID, r.Request.Identity.UserKey, string(r.Kind),
		string(r.Status), r.Owner, r.Owner, r.Epoch, r.Attempts, micros(r.CreatedAt), optional(r.StartedAt),
		len(request), flag(r.Request.Multitask.Waits()),
	)
	place, err := first(rows, err, number)
	if t.taken(err) {
		return runExists("create run")
	}
	if err != nil {
		return err
	}
	t.news.Changed, t.news.Work = []run.Ref{r.Ref}, r.Status == run.Queued
	if err := t.key(place, r); err != nil {
		return err
	}
	return t.Later(`INSERT INTO run_bodies (run, request, outcome) VALUES (?, ?, ?)`, place, request, []byte(`{}`))
}

// creatable refuses runs that are neither queued nor owned.
func creatable(r run.Run) error {
	switch {
	case r.ID == "":
		return errors.New("run has no id")
	case r.Kind != run.Chat && r.Kind != run.Background:
		return fmt.Errorf("run of unknown kind %q", r.Kind)
	case r.Status == run.Queued && r.Owner == "", r.Status == run.Running && r.Owner != "":
		return nil
	}
	return fmt.Errorf("a new run is queued, or running with an owner: %q with owner %q", r.Status, r.Owner)
}

func runExists(op string) error {
	return &run.Error{Code: run.CodeRunExists, Sentence: "Run already exists", Op: op, Cause: ledger.ErrExists}
}

const selectRuns = runColumns + `, b.request, b.outcome` + runTables

// listRuns leaves out what may be as long as a request: a thousand of them would not fit into memory.
const listRuns = runColumns + `,
		CAST(json_remove(CAST(b.request AS TEXT), '$.messages', '$.skills', '$.tool_policy') AS BLOB), b.outcome` + runTables

const (
	runColumns = `
	SELECT r.tenant, r.id, r.session_id, r.kind, r.status, r.phase, r.created_at, r.started_at, r.finished_at,
		r.next_seq, r.attempts, r.cancel, r.owner, r.epoch`
	runTables = `
	FROM runs r JOIN run_bodies b ON b.run = r.place`
)

// Run returns one run.
func (l *Ledger) Run(ctx context.Context, ref run.Ref) (run.Run, error) {
	const op = "read run"
	var r run.Run
	err := l.read(ctx, op, func(snapshot Session) error {
		rows, err := snapshot.Query(selectRuns+` WHERE r.tenant = ? AND r.id = ?`, string(ref.Tenant), ref.ID)
		r, err = first(rows, err, scanRun)
		return orUnknown(err, unknownRun(op))
	})
	return r, err
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

// key remembers under which idempotency key a run was asked for.
func (t *Tx) key(place int64, r run.Run) error {
	if r.Request.Idempotency.Key == "" {
		return nil
	}
	_, err := t.Exec(
		`INSERT INTO idempotency (tenant, user_key, key, run) VALUES (?, ?, ?, ?)`,
		string(r.Tenant), r.Request.Identity.UserKey, r.Request.Idempotency.Key, place,
	)
	if t.taken(err) {
		return runExists("create run")
	}
	return err
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
		r                 run.Run
		created           int64
		started, finished *int64
		request, outcome  []byte
	)
	err := rows.Scan(
		&r.Tenant, &r.ID, &r.SessionID, &r.Kind, &r.Status, &r.Phase, &created, &started, &finished,
		&r.NextSeq, &r.Attempts, &r.Cancel, &r.Owner, &r.Epoch, &request, &outcome,
	)
	if err != nil {
		return run.Run{}, err
	}
	r.CreatedAt, r.StartedAt, r.FinishedAt = fromMicros(created), fromOptional(started), fromOptional(finished)
	return r, errors.Join(json.Unmarshal(request, &r.Request), json.Unmarshal(outcome, &r.Outcome))
}

// find returns a run inside a write.
func (t *Tx) find(ref run.Ref, op string) (run.Run, error) {
	rows, err := t.Query(selectRuns+` WHERE r.tenant = ? AND r.id = ?`, string(ref.Tenant), ref.ID)
	r, err := first(rows, err, scanRun)
	return r, orUnknown(err, unknownRun(op))
}
