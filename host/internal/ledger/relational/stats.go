package relational

import (
	"context"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Stats counts in one snapshot. Sums live in the runs' rows, so that events are never read for it.
func (l *Ledger) Stats(ctx context.Context, of run.Filter) (ledger.Stats, error) {
	s := ledger.Stats{
		RunsByStatus:      map[run.Status]int{},
		ApprovalsByStatus: map[run.ApprovalStatus]int{},
		Streams:           map[string]ledger.Stream{},
	}
	where := runConditions(of)
	err := l.read(ctx, "count ledger", func(snapshot Session) error {
		for _, part := range []func(Session, *conditions, *ledger.Stats) error{
			countRuns, sumRuns, countApprovals, recentErrors,
		} {
			if err := part(snapshot, where, &s); err != nil {
				return err
			}
		}
		return nil
	})
	return s, err
}

func countRuns(snapshot Session, where *conditions, s *ledger.Stats) error {
	rows, err := snapshot.Query(
		`SELECT r.status, COUNT(*) FROM runs r`+where.text()+` GROUP BY r.status`, where.args...,
	)
	_, err = collect(rows, err, func(rows Rows) (struct{}, error) {
		var (
			status run.Status
			count  int
		)
		err := rows.Scan(&status, &count)
		s.RunsByStatus[status] = count
		return struct{}{}, err
	})
	return err
}

func sumRuns(snapshot Session, where *conditions, s *ledger.Stats) error {
	var (
		runs, events, audits ledger.Stream
		duration             float64 // microseconds
		calls, callTime      int64
	)
	rows, err := snapshot.Query(`
		SELECT COUNT(*), CAST(COALESCE(SUM(body_bytes), 0) AS BIGINT),
			CAST(COALESCE(SUM(next_seq - first_seq), 0) AS BIGINT), CAST(COALESCE(SUM(event_bytes), 0) AS BIGINT),
			CAST(COALESCE(SUM(audits), 0) AS BIGINT), CAST(COALESCE(SUM(audit_bytes), 0) AS BIGINT),
			CAST(COALESCE(AVG(finished_at - started_at), 0) AS DOUBLE PRECISION),
			CAST(COALESCE(SUM(errors), 0) AS BIGINT), CAST(COALESCE(SUM(decisions), 0) AS BIGINT),
			CAST(COALESCE(SUM(calls), 0) AS BIGINT), CAST(COALESCE(SUM(call_time), 0) AS BIGINT),
			CAST(COALESCE(SUM(prompt_tokens), 0) AS BIGINT), CAST(COALESCE(SUM(completion_tokens), 0) AS BIGINT),
			CAST(COALESCE(SUM(total_tokens), 0) AS BIGINT)
		FROM runs r`+where.text(), where.args...,
	)
	err = fill(
		rows, err,
		&runs.Records, &runs.Bytes, &events.Records, &events.Bytes, &audits.Records, &audits.Bytes, &duration,
		&s.ErrorEvents, &s.Audits, &calls, &callTime, &s.Usage.PromptTokens, &s.Usage.CompletionTokens,
		&s.Usage.TotalTokens,
	)
	s.Events, s.AvgRunDuration = events.Records, time.Duration(duration*float64(time.Microsecond))
	if calls > 0 {
		s.AvgToolDuration = time.Duration(callTime / calls)
	}
	s.Streams["runs"], s.Streams["events"], s.Streams["audits"] = runs, events, audits
	return err
}

// ofRuns joins approvals with their runs, where there are conditions about these.
func ofRuns(where *conditions) string {
	if len(where.terms) == 0 {
		return ""
	}
	return ` JOIN runs r ON r.place = a.run` + where.text()
}

func countApprovals(snapshot Session, where *conditions, s *ledger.Stats) error {
	var (
		all     ledger.Stream
		sum     float64 // microseconds, of those that are settled
		settled int
	)
	rows, err := snapshot.Query(`
		SELECT a.status, COUNT(*), SUM(COALESCE(OCTET_LENGTH(a.args), 0) + OCTET_LENGTH(a.decision)), COUNT(a.resolved_at),
			CAST(COALESCE(SUM(a.resolved_at - a.created_at), 0) AS DOUBLE PRECISION)
		FROM approvals a`+ofRuns(where)+` GROUP BY a.status`, where.args...)
	_, err = collect(rows, err, func(rows Rows) (struct{}, error) {
		var (
			status       run.ApprovalStatus
			count, ended int
			bytes        int64
			waited       float64
		)
		err := rows.Scan(&status, &count, &bytes, &ended, &waited)
		s.ApprovalsByStatus[status] = count
		all.Records, all.Bytes = all.Records+count, all.Bytes+bytes
		settled, sum = settled+ended, sum+waited
		return struct{}{}, err
	})
	if settled > 0 {
		s.AvgResolution = time.Duration(sum / float64(settled) * float64(time.Microsecond))
	}
	s.Streams["approvals"] = all
	return err
}

func recentErrors(snapshot Session, where *conditions, s *ledger.Stats) error {
	failing := &conditions{terms: []string{`r.status = 'failed'`}}
	failing.terms, failing.args = append(failing.terms, where.terms...), where.args
	rows, err := snapshot.Query(
		selectRuns+failing.text()+` ORDER BY r.finished_at DESC, r.place DESC LIMIT 5`, failing.args...,
	)
	failed, err := collect(rows, err, scanRun)
	for _, r := range failed {
		s.RecentErrors = append(s.RecentErrors, ledger.RecentError{
			Run: r.Ref, At: *r.FinishedAt, Code: r.Outcome.ErrorCode, Text: r.Outcome.Error,
		})
	}
	return err
}
