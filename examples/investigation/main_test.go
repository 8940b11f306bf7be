package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// snapshots reads the files of a folder of workspaces.
func snapshots(t *testing.T, folder string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		below, err := filepath.Rel(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.ToSlash(below)] = string(text)
	}
	return found
}

func TestTheCommittedWorkspacesAreWhatTheGeneratorWrites(t *testing.T) {
	fresh := t.TempDir()
	if err := writeAll(fresh, false); err != nil {
		t.Fatal(err)
	}
	want, got := snapshots(t, fresh), snapshots(t, "workspaces")
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 4 {
		t.Errorf("%d files; run `go run ./examples/investigation -out examples/investigation/workspaces` (-want +got):\n%s", len(want), diff)
	}
}

func TestTheHostileWorkspaceIsWrittenWhenAskedFor(t *testing.T) {
	fresh := t.TempDir()
	if err := writeAll(fresh, true); err != nil {
		t.Fatal(err)
	}
	if got := snapshots(t, fresh); len(got) != 6 || got["hostile/core-snapshot.json"] == "" {
		t.Errorf("%d files", len(got))
	}
}

func TestWhatCannotBeWrittenIsReported(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeAll(blocked, false); err == nil {
		t.Error("workspaces were written below a file")
	}
}
