package relational_test

import (
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

func TestLookingIntoASessionReadsItsOwnRunsOnly(t *testing.T) {
	l := opened(t)
	for name, c := range map[string]struct {
		query, index string
		args         []any
	}{
		"turns": {relational.RememberedRuns, "runs_remembered", []any{"t", "u", "s", 10}},
		"ahead": {relational.RunsAhead, "runs_unfinished", []any{"t", "u", "s", "r"}},
		"wake":  {relational.SomeoneWaits, "runs_unfinished", []any{1}},
		"claim": {relational.NextRun, "runs_unfinished", []any{nil, 1, nil, "chat"}},
	} {
		got := plan(t, l, c.query, c.args...)
		if !strings.Contains(got, c.index) || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
