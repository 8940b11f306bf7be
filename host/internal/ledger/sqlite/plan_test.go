package sqlite

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
)

// plan says how SQLite would run a query.
func plan(t *testing.T, l *Ledger, query string, args ...any) string {
	t.Helper()
	rows, err := l.readers.Query(`EXPLAIN QUERY PLAN `+query, args...)
	steps, err := collect(rows, err, func(rows *sql.Rows) (step string, err error) {
		var id, parent, unused int
		err = rows.Scan(&id, &parent, &unused, &step)
		return step, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

func TestClaimUsesItsIndexAndSortsNothing(t *testing.T) {
	l := opened(t)
	query := regexp.MustCompile(`(?s)SELECT place FROM runs.*LIMIT 1`).FindString(claimRun)
	got := plan(t, l, query)
	if !strings.Contains(got, "runs_claimable") || strings.Contains(got, "TEMP B-TREE") {
		t.Error(got)
	}
}

func TestListsSortNothingAndScanNoTable(t *testing.T) {
	l := opened(t)
	tenant, ref := run.TenantKey("t"), run.Ref{ID: "r"}
	queries := map[string]*conditions{}
	for name, filter := range map[string]run.Filter{
		"tenant": {Tenant: &tenant}, "status": {Status: run.Failed}, "session": {SessionID: "s"}, "user": {UserKey: "u"},
	} {
		queries[listRuns+"|"+name+"|r"] = runConditions(filter)
	}
	for name, filter := range map[string]run.ApprovalFilter{
		"run": {Run: &ref}, "status": {Status: run.Pending}, "session": {SessionID: "s"}, "user": {UserKey: "u"},
		"tool": {ToolName: "exec"}, "due": {DueBefore: time.Now()},
	} {
		queries[selectApprovals+"|"+name+"|a"] = approvalConditions(filter)
	}
	for key, where := range queries {
		parts := strings.Split(key, "|")
		order := " ORDER BY " + parts[2] + ".created_at DESC, " + parts[2] + ".place DESC LIMIT 10"
		got := plan(t, l, parts[0]+where.text()+order, where.args...)
		if strings.Contains(got, "TEMP B-TREE") || strings.Contains(got, "SCAN "+parts[2]) {
			t.Errorf("%s:\n%s", parts[1], got)
		}
	}
}

func TestResearchAndNotesAreFoundByTheirIndexes(t *testing.T) {
	l := opened(t)
	for query, index := range map[string]string{
		readResearch: "research_by_workspace", readResearchKeyed: "research_keys", insertResearch: "research_by_workspace",
		pruneNotes: "audits_noted", selectAudits + ` WHERE a.run = 1 ORDER BY a.sequence`: "audits_by_run",
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

func TestWriterSyncsEveryCommit(t *testing.T) {
	l := opened(t)
	type settings struct {
		Journal                                string
		Synchronous, ForeignKeys, Busy, Checks int
	}
	got, err := write(context.Background(), l, "test", func(t *tx) (s settings, err error) {
		for name, into := range map[string]any{
			"journal_mode": &s.Journal, "synchronous": &s.Synchronous, "foreign_keys": &s.ForeignKeys,
			"busy_timeout": &s.Busy, "wal_autocheckpoint": &s.Checks,
		} {
			rows, err := t.rows(`PRAGMA ` + name)
			if _, err = first(rows, err, func(rows *sql.Rows) (int, error) { return 0, rows.Scan(into) }); err != nil {
				return s, err
			}
		}
		return s, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(settings{"wal", 2, 1, 5000, 8000}, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestReaderCannotWrite(t *testing.T) {
	l := opened(t)
	if _, err := l.readers.Exec(`DELETE FROM runs`); err == nil {
		t.Error("a reader wrote")
	}
}

func TestSteadyClockStartsAtItsTimeAndGoesOn(t *testing.T) {
	start := time.Now()
	clock := steady(start)
	first := clock()
	if second := clock(); first.Before(start) || second.Before(first) {
		t.Errorf("%v, then %v, then %v", start, first, second)
	}
}
