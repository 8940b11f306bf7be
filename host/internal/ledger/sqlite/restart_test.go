package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

// restarted is a ledger whose processes stop and start while only the test moves the time.
type restarted struct {
	*testing.T
	*sqlite.Ledger
	path string
	now  time.Time
}

func started(t *testing.T) *restarted {
	r := &restarted{T: t, path: filepath.Join(t.TempDir(), "l.db"), now: time.Unix(1_800_000_000, 0).UTC()}
	r.Ledger = open(t, r.path, r.clock)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	queued := run.Run{Ref: run.Ref{ID: "r"}, Kind: run.Background, Status: run.Queued}
	if _, err := r.Create(t.Context(), queued, ledger.Door{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *restarted) clock() time.Time { return r.now }

func (r *restarted) restart() {
	r.Helper()
	if err := r.Close(); err != nil {
		r.Fatal(err)
	}
	r.Ledger = open(r.T, r.path, r.clock)
}

func (r *restarted) claim(owner string) (run.Run, error) {
	by := ledger.Claimant{Owner: owner, Kind: run.Background, Lease: time.Hour}
	return r.Claim(r.Context(), by)
}

func TestARestartTakesOverAtOnceWhatTheLastProcessDrove(t *testing.T) {
	r := started(t)
	first, err := r.claim("one")
	if err != nil {
		t.Fatal(err)
	}
	r.restart()
	second, err := r.claim("two")
	if err != nil || second.Ref != first.Ref || second.Epoch != 2 || second.Barren != 1 {
		t.Errorf("claimed %+v, error %v", second, err)
	}
	if _, err := r.Append(t.Context(), first.Fence(), ledger.Batch{}); !errors.Is(err, ledger.ErrFenced) {
		t.Errorf("the last process writes: %v", err)
	}
}

func TestARestartLeavesOfAPauseWhatFollowsTheLease(t *testing.T) {
	r := started(t)
	for _, pause := range []time.Duration{0, 0, time.Second, 2 * time.Second, 4 * time.Second} {
		if pause > 0 {
			if got, err := r.claim("early"); !errors.Is(err, ledger.ErrEmpty) {
				t.Errorf("claimed %+v, error %v", got, err)
			}
		}
		r.now = r.now.Add(pause)
		if _, err := r.claim("node"); err != nil {
			t.Fatalf("after %s: %v", pause, err)
		}
		r.restart()
	}
}

func TestARestartForgetsTheLastProcessAndItsDuties(t *testing.T) {
	r := started(t)
	if _, err := r.Renew(t.Context(), ledger.Node{Owner: "one", Lease: time.Hour}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Take(t.Context(), "expiry", ledger.Claimant{Owner: "one", Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
	r.restart()
	nodes, err := r.Nodes(t.Context())
	if err != nil || len(nodes) > 0 {
		t.Errorf("nodes %v, error %v", nodes, err)
	}
	mine, err := r.Take(t.Context(), "expiry", ledger.Claimant{Owner: "two", Lease: time.Hour})
	if err != nil || !mine {
		t.Errorf("duty taken %v, error %v", mine, err)
	}
}
