package sqlite

import (
	"strings"
	"testing"
)

func TestLookingIntoASessionReadsItsOwnRunsOnly(t *testing.T) {
	l := opened(t)
	for name, c := range map[string]struct {
		query, index string
		args         []any
	}{
		"turns": {rememberedRuns, "runs_remembered", []any{"t", "u", "s", 10}},
		"ahead": {runsAhead, "runs_unfinished", []any{"t", "u", "s", "r"}},
		"wake":  {someoneWaits, "runs_unfinished", []any{1}},
		"claim": {claimRun, "runs_unfinished", []any{"me", 1}},
	} {
		got := plan(t, l, c.query, c.args...)
		if !strings.Contains(got, c.index) || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
