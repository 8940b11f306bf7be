package relational_test

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

// plan says how SQLite would run a query.
func plan(t *testing.T, db *sql.DB, query string, args ...any) string {
	t.Helper()
	rows, err := db.Query(`EXPLAIN QUERY PLAN `+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err below tells
	var steps []string
	for rows.Next() {
		var (
			id, parent, unused int
			step               string
		)
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

// opened returns an empty ledger in SQLite, whose planner tells what it does. The writes through it are only planned.
func opened(t *testing.T) *sql.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestClaimUsesItsIndexAndSortsNothing(t *testing.T) {
	l := opened(t)
	got := plan(t, l, relational.NextRun, nil, 1, nil, "background")
	if !strings.Contains(got, "runs_claimable") || strings.Contains(got, "TEMP B-TREE") {
		t.Error(got)
	}
}

func TestLeasesAreFoundByTheirIndexes(t *testing.T) {
	l := opened(t)
	for name, c := range map[string]struct {
		query, index string
		args         []any
	}{
		"renew one":  {relational.Renewal(1), "runs_driven", []any{1, "me", "t", "r", 1}},
		"renew four": {relational.Renewal(4), "runs_driven", append([]any{1, "me"}, make([]any, 12)...)},
		"adrift":     {relational.SelectRuns + relational.Adrift, "runs_adrift", []any{1, 10}},
		"crowd":      {relational.CountWaiting, "runs_", []any{10}},
		"companions": {relational.Companions, "runs_unfinished", []any{1}},
	} {
		got := plan(t, l, c.query, c.args...)
		if !strings.Contains(got, c.index) || strings.Contains(got, "SCAN runs\n") || strings.Contains(got, "FOR ORDER BY") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestDeadlinesAreReadInTheOrderOfTheirIndex(t *testing.T) {
	got := plan(t, opened(t), relational.Deadlines, 100)
	if !strings.Contains(got, "approvals_pending") || strings.Contains(got, "TEMP B-TREE") {
		t.Error(got)
	}
}

func TestWhatIsPendingOfARunIsNotLookedForInAllThatIsPending(t *testing.T) {
	l := opened(t)
	for _, query := range []string{relational.MakeReady, relational.SettleOfRun} {
		if got := plan(t, l, query, make([]any, parameters(query))...); !strings.Contains(got, "approvals_open") {
			t.Errorf("%s:\n%s", query, got)
		}
	}
}

func TestListsSortNothingAndScanNoTable(t *testing.T) {
	l := opened(t)
	tenant, ref := run.TenantKey("t"), run.Ref{ID: "r"}
	queries := map[string]relational.Conditions{}
	for name, filter := range map[string]run.Filter{
		"tenant": {Tenant: &tenant}, "status": {Status: run.Failed}, "session": {SessionID: "s"}, "user": {UserKey: "u"},
	} {
		queries[relational.ListRuns+"|"+name+"|r"] = relational.RunConditions(filter)
	}
	for name, filter := range map[string]run.ApprovalFilter{
		"run": {Run: &ref}, "status": {Status: run.Pending}, "session": {SessionID: "s"}, "user": {UserKey: "u"},
		"tool": {ToolName: "exec"},
	} {
		queries[relational.SelectApprovals+"|"+name+"|a"] = relational.ApprovalConditions(filter)
	}
	for key, where := range queries {
		parts := strings.Split(key, "|")
		order := " ORDER BY " + parts[2] + ".created_at DESC, " + parts[2] + ".place DESC LIMIT 10"
		got := plan(t, l, parts[0]+where.Text+order, where.Args...)
		if strings.Contains(got, "TEMP B-TREE") || strings.Contains(got, "SCAN "+parts[2]) {
			t.Errorf("%s:\n%s", parts[1], got)
		}
	}
}

func TestResearchAndNotesAreFoundByTheirIndexes(t *testing.T) {
	l := opened(t)
	for query, index := range map[string]string{
		relational.ReadResearch: "research_by_workspace", relational.ReadResearchKeyed: "research_keys", relational.InsertResearch: "research_by_workspace",
		relational.PruneNotes: "audits_noted", relational.PruneAnswers: "answers_by_time", relational.PruneOldRuns: "runs_by_end",
		relational.PruneTenant: "runs_kept", relational.CrowdedTenants: "COVERING INDEX runs_kept", relational.CompactRuns: "runs_whole", relational.SelectAudits + ` WHERE a.run = 1 ORDER BY a.sequence`: "audits_by_run",
	} {
		args := make([]any, 7)
		got := plan(t, l, query, args[:parameters(query)]...)
		if !strings.Contains(got, index) || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%s:\n%s", query, got)
		}
	}
}

// parameters counts what a query is to be given.
func parameters(query string) int {
	if numbered := regexp.MustCompile(`\?\d`).FindAllString(query, -1); len(numbered) > 0 {
		return len(slices.Compact(slices.Sorted(slices.Values(numbered))))
	}
	return strings.Count(query, "?")
}
