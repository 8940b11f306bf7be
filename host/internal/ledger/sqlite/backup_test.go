package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

// openAt opens a ledger and closes it with the test.
func openAt(t *testing.T, path string) *sqlite.Ledger {
	t.Helper()
	l, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// drivenIn makes a run that is being driven.
func drivenIn(t *testing.T, l *sqlite.Ledger, id string) run.Run {
	t.Helper()
	r := run.Run{Ref: run.Ref{Tenant: "pska", ID: id}, Kind: run.Chat, Status: run.Running, Owner: "me", Epoch: 1}
	if _, err := l.Create(t.Context(), r, ledger.Door{Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBackupOfAnOpenLedgerHoldsEverythingCommittedBefore(t *testing.T) {
	folder := t.TempDir()
	l := openAt(t, filepath.Join(folder, "f.db"))
	r := drivenIn(t, l, "run-1")
	events, err := l.Append(t.Context(), r.Fence(), ledger.Batch{Events: []run.Event{{Kind: run.SessionStart, Content: "q"}}})
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(folder, "copy.db")
	made, err := sqlite.Backup(t.Context(), filepath.Join(folder, "f.db"), target)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	want := sqlite.Copy{Path: target, Bytes: info.Size(), Runs: 1, Events: 1}
	if diff := cmp.Diff(want, made); diff != "" || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, copy (-want +got):\n%s", info.Mode(), diff)
	}
	kept, err := openAt(t, target).Events(t.Context(), r.Ref, -1, 10)
	if diff := cmp.Diff(events, kept); diff != "" || err != nil {
		t.Errorf("%v, events (-want +got):\n%s", err, diff)
	}
}

func TestBackupHoldsResearchAndGoesOnWhereItEnded(t *testing.T) {
	folder := t.TempDir()
	l := openAt(t, filepath.Join(folder, "f.db"))
	plan := run.ResearchEntry{Workspace: "lab", Kind: run.ResearchPlan, Key: "key", Body: []byte(`{}`)}
	added, err := l.AddResearch(t.Context(), 0, plan)
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(folder, "copy.db")
	if _, err := sqlite.Backup(t.Context(), filepath.Join(folder, "f.db"), target); err != nil {
		t.Fatal(err)
	}
	copied := openAt(t, target)
	kept, err := copied.Research(t.Context(), "lab")
	if diff := cmp.Diff([]run.ResearchEntry{added}, kept); diff != "" || err != nil {
		t.Fatalf("%v, research (-want +got):\n%s", err, diff)
	}
	plan.Key = ""
	if next, err := copied.AddResearch(t.Context(), added.Sequence, plan); err != nil || next.Sequence <= added.Sequence {
		t.Errorf("sequence %d after %d, error %v", next.Sequence, added.Sequence, err)
	}
}

func TestBackupTakenWhileWritersWorkIsWhole(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "f.db")
	l := openAt(t, path)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for i := range 4 {
		r := drivenIn(t, l, fmt.Sprintf("run-%d", i))
		writers.Go(func() {
			for ctx.Err() == nil {
				// Two events at a time: a copy holds both or none.
				batch := ledger.Batch{Events: []run.Event{{Kind: run.Think}, {Kind: run.StepEnd}}}
				if _, err := l.Append(t.Context(), r.Fence(), batch); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 5 {
		made, err := sqlite.Backup(t.Context(), path, filepath.Join(folder, fmt.Sprintf("copy-%d.db", i)))
		if err != nil || made.Runs != 4 || made.Events%2 != 0 {
			t.Errorf("copy %+v: %v", made, err)
		}
	}
	stop()
	writers.Wait()
}

func TestBackupThatCannotBeMadeLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "f.db")
	openAt(t, path)
	taken := filepath.Join(folder, "taken")
	foreign := filepath.Join(folder, "foreign")
	for file, content := range map[string]string{taken: "mine", foreign: "no database"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx            context.Context
		source, target string
		want           error
	}{
		"the target exists":   {t.Context(), path, taken, sqlite.ErrTargetExists},
		"no such ledger":      {t.Context(), filepath.Join(folder, "none.db"), filepath.Join(folder, "copy"), os.ErrNotExist},
		"no such folder":      {t.Context(), path, filepath.Join(folder, "none", "copy"), os.ErrNotExist},
		"another file format": {t.Context(), foreign, filepath.Join(folder, "copy"), nil},
		"a caller who left":   {ended, path, filepath.Join(folder, "copy"), context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sqlite.Backup(c.ctx, c.source, c.target)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(folder, ".backup-*")); len(left) > 0 {
				t.Errorf("left behind %v", left)
			}
			if content, _ := os.ReadFile(taken); string(content) != "mine" {
				t.Errorf("the file that was there holds %q", content)
			}
			if _, err := os.Stat(filepath.Join(folder, "copy")); err == nil {
				t.Error("a copy was made")
			}
		})
	}
}
