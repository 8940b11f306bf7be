package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

// The variables make the test binary a process that writes to a ledger until it is killed.
const (
	crashPath  = "FASTREACT_TEST_CRASH_LEDGER"
	crashOwner = "FASTREACT_TEST_CRASH_OWNER"
	crashRuns  = 4
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashPath); path != "" {
		if err := writeForEver(path, os.Getenv(crashOwner)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForEver appends to a few runs at once and prints every event it was promised.
func writeForEver(path, owner string) error {
	ctx := context.Background()
	l, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	failed := make(chan error, crashRuns)
	for i := range crashRuns {
		group.Go(func() { failed <- writeOne(ctx, l, run.Ref{ID: fmt.Sprint(i)}, owner) })
	}
	group.Wait()
	return <-failed
}

func writeOne(ctx context.Context, l *sqlite.Ledger, ref run.Ref, owner string) error {
	_, err := l.Create(ctx, run.Run{Ref: ref, Kind: run.Chat, Status: run.Queued}, ledger.Door{})
	if err != nil && !errors.Is(err, ledger.ErrExists) {
		return err
	}
	r, err := claimed(ctx, l, owner)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		batch := ledger.Batch{Events: []run.Event{{Kind: run.Think}, {Kind: run.Think}}[:1+n%2]}
		events, err := l.Append(ctx, r.Fence(), batch)
		if err != nil {
			return err
		}
		for _, event := range events {
			fmt.Println(r.ID, event.Sequence)
		}
	}
}

// claimed takes any run, and waits for one whose last claims ended before they came further.
func claimed(ctx context.Context, l *sqlite.Ledger, owner string) (run.Run, error) {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		r, err := l.Claim(ctx, ledger.Claimant{Owner: owner, Kind: run.Chat, Lease: time.Hour})
		if !errors.Is(err, ledger.ErrEmpty) {
			return r, err
		}
		<-again.C
	}
}

func TestEveryAcknowledgedEventSurvivesAKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	promised := make([]int64, crashRuns)
	for i := range promised {
		promised[i] = -1
	}
	for round := range 8 {
		killed(t, path, round, promised)
		l := open(t, path, nil)
		for i, last := range promised {
			events, err := l.Events(context.Background(), run.Ref{ID: fmt.Sprint(i)}, -1, 1_000_000)
			if err != nil {
				t.Fatal(err)
			}
			for at, event := range events {
				if event.Sequence != int64(at) {
					t.Fatalf("round %d, run %d: event %d has sequence %d", round, i, at, event.Sequence)
				}
			}
			if stored := int64(len(events)) - 1; stored < last {
				t.Fatalf("round %d, run %d: %d promised, stored up to %d", round, i, last, stored)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killed runs the writing process, notes what it was promised and kills it at a random point.
func killed(t *testing.T, path string, round int, promised []int64) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashPath+"="+path, fmt.Sprintf("%s=process-%d", crashOwner, round))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	left := 1 + rand.IntN(200) //nolint:gosec // a point to kill at is no secret
	lines := bufio.NewScanner(out)
	for heard := 0; lines.Scan(); heard++ {
		var i, sequence int64
		if _, err := fmt.Sscan(lines.Text(), &i, &sequence); err != nil {
			break // the last line may be cut
		}
		promised[i] = max(promised[i], sequence)
		if heard == left {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("round %d: the process ended by itself: %v", round, err)
	}
}
