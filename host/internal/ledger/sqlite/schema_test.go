package sqlite

import (
	"database/sql"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// withoutNotes is the last schema that knew audit records of runs alone.
const withoutNotes = 7

// older makes a ledger of an older schema with the statements' content, and returns its path.
func older(t *testing.T, version int, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(driverName, address(path, writing))
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files[:version] {
		if err := step(t.Context(), db, file, i+1, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// aRunWithAudits is a finished run with two records, behind one that was pruned.
var aRunWithAudits = []string{
	`INSERT INTO runs (place, tenant, id, session_id, user_key, kind, status, created_at, started_at, finished_at,
		audits, decisions, calls) VALUES (4, 'pska', 'r', 's', 'u', 'chat', 'completed', 1, 1, 2, 2, 1, 1)`,
	`INSERT INTO run_bodies VALUES (4, CAST('{}' AS BLOB), CAST('{}' AS BLOB))`,
	`INSERT INTO audits VALUES (5, 4, 1, 'decision', 'c', 'u', 'exec', 'sha256:t', 'sha256:a',
		CAST('{"action": "allow"}' AS BLOB), 'approval-1', 1, 0, '', 0, 0)`,
	`INSERT INTO audits VALUES (6, 4, 2, 'outcome', 'c', 'u', 'exec', 'sha256:t', 'sha256:a', NULL, '', 0, 1,
		'sha256:r', 1500, 77)`,
	`INSERT INTO audits VALUES (9, 4, 2, 'outcome', 'gone', '', '', '', '', NULL, '', 0, 0, '', 0, 0)`,
	`DELETE FROM audits WHERE sequence = 9`,
}

func TestAuditRecordsOutliveTheStepThatBringsNotes(t *testing.T) {
	l := openedAt(t, older(t, withoutNotes, aRunWithAudits...))
	ref := run.Ref{Tenant: "pska", ID: "r"}
	want := []run.Audit{
		{
			Sequence: 5, At: time.UnixMicro(1).UTC(), Stage: run.Decided, Run: ref, CallID: "c", UserKey: "u", Tool: "exec",
			ToolDigest: "sha256:t", ArgsDigest: "sha256:a", Decision: []byte(`{"action": "allow"}`),
			ApprovalID: "approval-1", Dispatched: true,
		},
		{
			Sequence: 6, At: time.UnixMicro(2).UTC(), Stage: run.Ended, Run: ref, CallID: "c", UserKey: "u", Tool: "exec",
			ToolDigest: "sha256:t", ArgsDigest: "sha256:a", IsError: true, ResultDigest: "sha256:r", Duration: 1500,
			Gas: 77,
		},
	}
	got, err := l.Audits(t.Context(), &ref, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audits (-want +got):\n%s", diff)
	}
}

// noted returns the sequence that a note gets.
func noted(t *testing.T, l *Ledger) int64 {
	t.Helper()
	if err := l.Note(t.Context(), run.Audit{Stage: run.Decided, Run: run.Ref{ID: "turn"}, CallID: "noted"}); err != nil {
		t.Fatal(err)
	}
	all, err := l.Audits(t.Context(), nil, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	return all[len(all)-1].Sequence
}

func TestASequenceThatWasPrunedIsNotGivenAgainAfterTheStepThatBringsNotes(t *testing.T) {
	if got := noted(t, openedAt(t, older(t, withoutNotes, aRunWithAudits...))); got != 10 {
		t.Errorf("sequence %d, want 10", got)
	}
}

func TestALedgerThatNeverHadAuditRecordsTakesNotes(t *testing.T) {
	if got := noted(t, openedAt(t, older(t, withoutNotes))); got != 1 {
		t.Errorf("sequence %d, want 1", got)
	}
}

func TestRunsOfAnOlderSchemaAreStillPrunedWithTheirAuditRecords(t *testing.T) {
	l := openedAt(t, older(t, withoutNotes, aRunWithAudits...))
	keep := ledger.Retention{Runs: time.Hour}
	if pruned, err := l.Prune(t.Context(), keep, 10); err != nil || pruned.Runs != 1 {
		t.Fatalf("removed %d: %v", pruned.Runs, err)
	}
	left, err := l.Audits(t.Context(), nil, 0, 10)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, error %v", left, err)
	}
}

func TestRunsOfAnOlderSchemaTakeRecordsAgain(t *testing.T) {
	l := openedAt(t, older(t, withoutNotes, aRunWithAudits...))
	r := run.Run{Ref: run.Ref{ID: "next"}, Kind: run.Chat, Status: run.Running, Owner: "me", Epoch: 1}
	if _, err := l.Create(t.Context(), r, ledger.Door{Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), r.Fence(), ledger.Batch{Audits: []run.Audit{{Stage: run.Decided}}}); err != nil {
		t.Fatal(err)
	}
	audits, err := l.Audits(t.Context(), &r.Ref, 0, 10)
	if err != nil || len(audits) != 1 || audits[0].Sequence != 10 {
		t.Errorf("audits %v, error %v", audits, err)
	}
}

// withoutLeases is the last schema in which a run that was handed back was queued again.
const withoutLeases = 8

func TestRunThatWasHandedBackBeforeTheStepThatBringsLeasesGoesOn(t *testing.T) {
	l := openedAt(t, older(t, withoutLeases,
		`INSERT INTO runs (place, tenant, id, session_id, user_key, kind, status, created_at, started_at, next_seq)
			VALUES (1, '', 'begun', 's', 'u', 'background', 'queued', 1, 2, 0)`,
		`INSERT INTO run_bodies VALUES (1, CAST('{"id":"begun","messages":[{"content":"q"}]}' AS BLOB), CAST('{}' AS BLOB))`,
		`INSERT INTO runs (place, tenant, id, session_id, user_key, kind, status, created_at, started_at, owner, keeper, epoch)
			VALUES (2, '', 'left', 's', 'u', 'background', 'running', 2, 2, 'gone', 'gone', 1)`,
		`INSERT INTO run_bodies VALUES (2, CAST('{}' AS BLOB), CAST('{}' AS BLOB))`,
	))
	begun, err := l.Run(t.Context(), run.Ref{ID: "begun"})
	if err != nil || begun.Status != run.Running || begun.Phase != run.Ready {
		t.Errorf("%+v, error %v", begun, err)
	}
	page, err := l.Runs(t.Context(), run.Filter{ID: "begun", Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Items[0].Request.ID != "begun" || page.Items[0].Request.Messages != nil {
		t.Errorf("listed %+v, error %v", page.Items, err)
	}
	for _, want := range []string{"begun", "left"} {
		by := ledger.Claimant{Owner: "node", Kind: run.Background, Lease: time.Hour}
		got, err := l.Claim(t.Context(), by)
		if err != nil || got.ID != want || got.Barren != 0 {
			t.Errorf("claimed %+v, error %v", got, err)
		}
	}
}

func TestResearchIsNeverChangedOrRemoved(t *testing.T) {
	l := opened(t)
	entry := run.ResearchEntry{Workspace: "lab", Kind: run.ResearchPlan, Body: []byte(`{}`)}
	if _, err := l.AddResearch(t.Context(), 0, entry); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`DELETE FROM research`, `UPDATE research SET kind = 'grant'`} {
		if err := do(l, statement); err == nil {
			t.Errorf("%s went through", statement)
		}
	}
}
