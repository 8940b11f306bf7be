package relational

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

const insertApproval = `
	INSERT INTO approvals (id, run, session_id, user_key, tool_call_id, tool_name, args, args_digest, tool_digest,
		reason, decision, status, timeout, created_at, expires_at, kind)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?)`

// openApprovals stores the batch's approvals. They belong to the fence's run, whatever they say.
func (p *parcel) openApprovals(t *Tx, r row) error {
	for i, a := range p.batch.Approvals {
		if a.CreatedAt.IsZero() {
			a.CreatedAt = t.now
		}
		if a.ExpiresAt.IsZero() {
			a.ExpiresAt = a.CreatedAt.Add(a.Timeout)
		}
		_, err := t.Exec(
			insertApproval, a.ID, r.place, a.SessionID, a.UserKey, a.ToolCallID, a.ToolName, []byte(a.Args),
			a.ArgsDigest, a.ToolDigest, a.Reason, []byte(p.approvals[i]), int64(a.Timeout), micros(a.CreatedAt),
			micros(a.ExpiresAt), string(a.Kind),
		)
		if t.taken(err) {
			return approvalExists()
		}
		if err != nil {
			return err
		}
		if err := t.tell(run.ApprovalRequested, `id = ?4`, a.ID); err != nil {
			return err
		}
	}
	return nil
}

func approvalExists() error {
	return &run.Error{
		Code: run.CodeConflict, Sentence: "Approval already exists", Op: "open approval", Cause: ledger.ErrExists,
	}
}

const selectApprovals = `
	SELECT a.id, r.tenant, r.id, a.session_id, a.user_key, a.tool_call_id, a.tool_name, a.args, a.args_digest,
		a.tool_digest, a.reason, a.decision, a.status, a.timeout, a.created_at, a.expires_at, a.resolved_at,
		a.resolved_by, a.resolution, a.kind, a.choice
	FROM approvals a JOIN runs r ON r.place = a.run`

func scanApproval(rows Rows) (run.Approval, error) {
	var (
		a                         run.Approval
		args, decision            []byte
		timeout, created, expires int64
		resolved                  *int64
	)
	err := rows.Scan(
		&a.ID, &a.Run.Tenant, &a.Run.ID, &a.SessionID, &a.UserKey, &a.ToolCallID, &a.ToolName, &args, &a.ArgsDigest,
		&a.ToolDigest, &a.Reason, &decision, &a.Status, &timeout, &created, &expires, &resolved,
		&a.ResolvedBy, &a.Resolution, &a.Kind, &a.Choice,
	)
	if err != nil {
		return run.Approval{}, err
	}
	a.Args, a.Timeout = args, time.Duration(timeout)
	a.CreatedAt, a.ExpiresAt, a.ResolvedAt = fromMicros(created), fromMicros(expires), fromOptional(resolved)
	return a, json.Unmarshal(decision, &a.Decision)
}

// Approval returns one approval.
func (l *Ledger) Approval(ctx context.Context, id string) (run.Approval, error) {
	const op = "read approval"
	var a run.Approval
	err := l.read(ctx, op, func(snapshot Session) error {
		rows, err := snapshot.Query(selectApprovals+` WHERE a.id = ?`, id)
		a, err = first(rows, err, scanApproval)
		return orUnknown(err, unknownApproval(op))
	})
	return a, err
}

// Approvals lists approvals. A limit of zero or less selects all.
func (l *Ledger) Approvals(ctx context.Context, filter run.ApprovalFilter) (run.Page[run.Approval], error) {
	where := approvalConditions(filter)
	order := approvalOrder(filter) + ` LIMIT ? OFFSET ?`
	limit := filter.Limit
	if limit <= 0 {
		limit = math.MaxInt64
	}
	var page run.Page[run.Approval]
	err := l.read(ctx, "list approvals", func(snapshot Session) error {
		count := `SELECT COUNT(*) FROM approvals a`
		if filter.Tenant != nil {
			count += ` JOIN runs r ON r.place = a.run`
		}
		rows, err := snapshot.Query(count+where.text(), where.args...)
		if err := fill(rows, err, &page.Total); err != nil {
			return err
		}
		rows, err = snapshot.Query(
			selectApprovals+where.text()+order, append(where.args, limit, max(filter.Offset, 0))...,
		)
		page.Items, err = collect(rows, err, scanApproval)
		return err
	})
	return page, err
}

// approvalOrder sorts those of one run as they were opened, whatever the clock said: the newest about a call counts.
func approvalOrder(filter run.ApprovalFilter) string {
	switch {
	case filter.Run != nil && filter.Oldest:
		return ` ORDER BY a.place`
	case filter.Run != nil:
		return ` ORDER BY a.place DESC`
	case filter.Oldest:
		return ` ORDER BY a.created_at, a.place`
	}
	return ` ORDER BY a.created_at DESC, a.place DESC`
}

const deadlines = `SELECT id, expires_at FROM approvals WHERE status = 'pending' ORDER BY expires_at LIMIT ?`

// Deadlines returns when pending approvals expire, the soonest first, and the ledger's time.
func (l *Ledger) Deadlines(ctx context.Context, limit int) (now time.Time, next []run.Deadline, err error) {
	err = l.read(ctx, "read deadlines of approvals", func(snapshot Session) error {
		rows, err := snapshot.Query(deadlines, limit)
		if next, err = collect(rows, err, scanDeadline); err != nil {
			return err
		}
		now, err = snapshot.Now()
		return err
	})
	return now, next, err
}

func scanDeadline(rows Rows) (d run.Deadline, err error) {
	var at int64
	err = rows.Scan(&d.ApprovalID, &at)
	d.At = fromMicros(at)
	return d, err
}

func approvalConditions(filter run.ApprovalFilter) *conditions {
	where := &conditions{}
	if filter.Tenant != nil {
		where.add(`r.tenant = ?`, string(*filter.Tenant))
	}
	if filter.Run != nil {
		where.add(`a.run = (SELECT place FROM runs WHERE tenant = ? AND id = ?)`, string(filter.Run.Tenant), filter.Run.ID)
	}
	if filter.RunID != "" {
		where.add(`a.run IN (SELECT place FROM runs WHERE id = ?)`, filter.RunID)
	}
	where.equal(`a.id`, filter.ID)
	where.equal(`a.session_id`, filter.SessionID)
	where.equal(`a.user_key`, filter.UserKey)
	where.equal(`a.tool_name`, filter.ToolName)
	where.equal(`a.status`, string(filter.Status))
	return where
}
