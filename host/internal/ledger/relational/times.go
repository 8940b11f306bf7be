package relational

import "time"

// Exact returns a time as the ledger keeps it: UTC, microseconds.
func Exact(t time.Time) time.Time { return fromMicros(micros(t)) }

func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(m int64) time.Time { return time.UnixMicro(m).UTC() }

// optional turns a missing time into NULL.
func optional(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	m := micros(*t)
	return &m
}

func fromOptional(m *int64) *time.Time {
	if m == nil {
		return nil
	}
	t := fromMicros(*m)
	return &t
}
