package fastreact

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
)

// shown returns some keys of the record of a run.
func shown(t *testing.T, how func(*run.Run), keys ...string) []any {
	t.Helper()
	b := newBook(nil)
	server := open(t, b)
	call(t, server, "POST", "/v1/runs", question+"}")
	b.change(run.Ref{Tenant: "pska", ID: "run-1"}, how)
	record := get(t, server, "/v1/runs/run-1")
	if diff := cmp.Diff(record, get(t, server, "/v1/runs")["runs"].([]any)[0]); diff != "" {
		t.Errorf("in the list it is another: %s", diff)
	}
	var values []any
	for _, key := range keys {
		values = append(values, record[key])
	}
	return values
}

func TestARecordSaysWhoDrivesTheRunAndForHowLong(t *testing.T) {
	until := dawn.Add(10 * time.Second)
	got := shown(t, func(r *run.Run) {
		r.Status, r.Owner, r.LeaseUntil, r.Attempts, r.NotBefore = run.Running, "host/01X", &until, 2, &until
	}, "worker_id", "lease_expires_at", "attempts", "retry_after", "last_error", "phase")
	want := []any{"host/01X", "2026-06-11T00:00:10.000000+00:00", 2.0, nil, nil, nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestARecordSaysWhenARunIsTriedAgainAndWhy(t *testing.T) {
	next := dawn.Add(2 * time.Second)
	for barren, want := range map[int]string{
		1: "The worker that drove the run ended before the run came further.",
		3: "3 workers in a row ended before the run came further.",
	} {
		got := shown(t, func(r *run.Run) {
			r.Status, r.Barren, r.NotBefore, r.Attempts = run.Running, barren, &next, 4
		}, "worker_id", "lease_expires_at", "retry_after", "last_error", "error")
		if diff := cmp.Diff([]any{nil, nil, "2026-06-11T00:00:02.000000+00:00", want, nil}, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestARunThatIsOverIsNotTriedAgain(t *testing.T) {
	next := dawn.Add(2 * time.Second)
	got := shown(t, func(r *run.Run) {
		r.Status, r.Barren, r.NotBefore, r.Outcome = run.Failed, 5, &next, run.Outcome{Error: "Given up.", ErrorCode: "crash_loop"}
	}, "retry_after", "last_error", "error", "error_code")
	if diff := cmp.Diff([]any{nil, "Given up.", "Given up.", "crash_loop"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestARunThatAProcessLeftBehindIsNobodys(t *testing.T) {
	got := shown(t, func(r *run.Run) { r.Status, r.Owner, r.Attempts = run.Running, "host/01X", 1 }, "worker_id", "attempts")
	if diff := cmp.Diff([]any{nil, 1.0}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAParkedRunIsNobodys(t *testing.T) {
	got := shown(t, func(r *run.Run) { r.Status, r.Phase = run.Running, run.AwaitingApproval },
		"status", "phase", "worker_id", "lease_expires_at", "retry_after")
	if diff := cmp.Diff([]any{"running", "awaiting_approval", nil, nil, nil}, got); diff != "" {
		t.Error(diff)
	}
}
