package sqlite

import (
	"database/sql"
	"time"
)

// steady returns a clock that starts at a wall time and goes on monotonically.
func steady(start time.Time) func() time.Time {
	return func() time.Time { return start.Add(time.Since(start)) }
}

// exact returns a time as the ledger keeps it: UTC, microseconds.
func exact(t time.Time) time.Time { return fromMicros(micros(t)) }

func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(m int64) time.Time { return time.UnixMicro(m).UTC() }

// optional turns a missing time into NULL.
func optional(t *time.Time) sql.NullInt64 {
	if t == nil {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: micros(*t), Valid: true}
}

func fromOptional(m sql.NullInt64) *time.Time {
	if !m.Valid {
		return nil
	}
	t := fromMicros(m.Int64)
	return &t
}
