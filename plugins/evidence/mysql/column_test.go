package mysql

import (
	"strings"
	"testing"
)

func TestNameOfAColumnHoldsNoNumberAndNoSentence(t *testing.T) {
	for name, want := range map[string]string{
		"p95_ms": "p95_ms", "ms": "ms", "COUNT(1)": "COUNT(*)", "AVG(`ms`)": "AVG(ms)", "disk full": "disk_full", "999": "?",
		"999 failures of db-7": "?_failures_of_db-?", "'disk full'": "?", "`ms` > 999": "ms_>_?", `"disk`: "?", "９９９": "___", "": "",
	} {
		if got := column(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestStatementThatAsksNothingIsNoEvidence(t *testing.T) {
	for _, sql := range []string{"select 999 as failures", "select 'disk full' as error", "select x from (select 999 as x) d"} {
		got, note := item(t, sourceOf(t, nil), "reader", sql)
		if len(got.Facts) != 1 || got.Facts[0].Value != "1" || got.Excerpt != "" || note == "" {
			t.Errorf("%s: %+v, note %q", sql, got, note)
		}
	}
}

func TestNamesThatAStatementMakesAreNoEvidence(t *testing.T) {
	got, _ := item(t, sourceOf(t, nil), "reader", "select count(*) as `999 failures: disk full`, sum(ms) > 888 from requests")
	for _, one := range got.Facts {
		if strings.ContainsAny(one.Name, "89 ") {
			t.Errorf("%+v", one)
		}
	}
	if strings.Contains(got.Excerpt, "999") || strings.Contains(got.Excerpt, "888") || strings.Contains(got.Excerpt, "disk full") {
		t.Error(got.Excerpt)
	}
}
