// Package contract holds what every build of the evidence-guard plugin must do: which drafts may leave, and which not.
package contract

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

// Suite returns the contract of evidence-guard.
func Suite() plugintest.Suite {
	var all []plugintest.Case
	for _, f := range reviewed() {
		all = append(all, plugintest.Case{Name: f.name, Run: f.check})
	}
	return plugintest.Suite{Name: "evidence-guard", Cases: all}
}

// review is a draft and the verdict about it.
type review struct {
	name     string
	draft    string
	evidence string // empty = evidence()
	want     sdk.GuardVerdict
	reasons  int
}

func (f review) check(t *testing.T, plugin *plugintest.Plugin) {
	store := f.evidence
	if store == "" {
		store = evidence()
	}
	request := sdk.ReviewRequest{Draft: json.RawMessage(f.draft), Evidence: json.RawMessage(store), Question: "Why is checkout slow since 9999?"}
	got := plugin.Review(t, request)
	if got.Verdict != f.want || len(got.Reasons) != f.reasons {
		t.Errorf("verdict = %s for %d reasons %q, want %s for %d", got.Verdict, len(got.Reasons), got.Reasons, f.want, f.reasons)
	}
	if again := plugin.Review(t, request); !reflect.DeepEqual(got, again) {
		t.Errorf("the second answer is %+v, the first was %+v", again, got)
	}
}

func evidence() string {
	return `[
{"evidence_id":"m-3f9a-1","source":"metrics","title":"Metrics checkout_latency_seconds: 1 series","observed_at":"2026-11-30T10:15:00Z","facts":[{"name":"checkout_latency_seconds{quantile=\"0.95\"}","value":"2.4","unit":"s"}],"excerpt":"2.4"},
{"evidence_id":"l-77b0-1","source":"logs","title":"Logs over 15m0s: 12 matching lines in 2 files","observed_at":"2026-11-30T10:15:03Z","facts":[{"name":"matching lines","value":"12","unit":""}],"excerpt":"10:14:58 ERROR db-7 connection refused after 30s\n10:14:59 ERROR pool exhausted: 64 of 64"},
{"evidence_id":"d-0c11-1","source":"mysql","title":"Database shop: 1 row","observed_at":"2026-11-30T10:15:06Z","facts":[{"name":"slow_queries","value":1834,"unit":""}],"excerpt":"slow_queries\n1834"}]`
}

// report writes a report with one finding.
func report(statement, ids string) string {
	return reportWith("The checkout is slow.", statement, ids, "")
}

func reportWith(summary, statement, ids, cause string) string {
	quoted := func(text string) string {
		raw, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		return string(raw)
	}
	return fmt.Sprintf(`{"summary":%s,"findings":[{"statement":%s,"severity":"warning","evidence_ids":%s}],"likely_cause":%s,"recommended_actions":["Raise the pool to 128."]}`,
		quoted(summary), quoted(statement), ids, quoted(cause))
}

const metric, logs, database, everything = `["m-3f9a-1"]`, `["l-77b0-1"]`, `["d-0c11-1"]`, `["m-3f9a-1","l-77b0-1","d-0c11-1"]`

func reviewed() []review {
	return append([]review{
		{name: "a finding may state what its evidence holds", draft: report("The p95 latency is 2.4 s.", metric), want: sdk.Release},
		{name: "a finding may quote its evidence", draft: report(`db-7 says "connection refused" after 30 s, and 64 of 64 connections are taken.`, logs), want: sdk.Release},
		{name: "a finding may rest on several items", draft: report("1,834 queries were slow while p95 was 2.4 s and 12 lines matched.", everything), want: sdk.Release},
		{name: "summary and cause may use whatever is cited", draft: reportWith("p95 is 2.4 s.", "p95 is 2.4 s.", metric, "A latency of 2.4s."), want: sdk.Release},
		{name: "a finding without numbers still cites", draft: report("The database refuses connections.", logs), want: sdk.Release},
		{name: "an action may propose numbers", draft: report("The pool is exhausted.", logs), want: sdk.Release},
		{name: "a plain text claims nothing", draft: `{"text":"Hello, 42."}`, evidence: `[]`, want: sdk.Release},
		{name: "an invented number is sent back", draft: report("The p95 latency is 2.5 s.", metric), want: sdk.Repair, reasons: 1},
		{name: "a number of another item is sent back", draft: report("1834 queries were slow.", logs), want: sdk.Repair, reasons: 1},
		{name: "a number in another unit is no invention where the text leaves it open", draft: report("The value is 2.4.", metric), want: sdk.Release},
		{name: "an invented quotation is sent back", draft: report(`It says "disk full".`, logs), want: sdk.Repair, reasons: 1},
		{name: "an invented name with a number is sent back", draft: report("db-8 refuses connections.", logs), want: sdk.Repair, reasons: 1},
		{name: "the number of a name is no number", draft: report("7 databases refuse connections.", logs), want: sdk.Repair, reasons: 1},
		{name: "a part of a time is no number", draft: report("14 databases refuse connections.", logs), want: sdk.Repair, reasons: 1},
		{name: "a number of the question is no evidence", draft: report("It is slow since 9999.", logs), want: sdk.Repair, reasons: 1},
		{name: "an unknown id is sent back", draft: report("The database refuses connections.", `["l-77b0-2"]`), want: sdk.Repair, reasons: 1},
		{name: "an unknown id beside a known one is sent back", draft: report("p95 is 2.4 s.", `["m-3f9a-1","x-1"]`), want: sdk.Repair, reasons: 1},
		{name: "the summary invents nothing either", draft: reportWith("p95 is 9 s.", "p95 is 2.4 s.", metric, ""), want: sdk.Repair, reasons: 1},
		{name: "the cause invents nothing either", draft: reportWith("Slow.", "p95 is 2.4 s.", metric, "A leak of 77 connections."), want: sdk.Repair, reasons: 1},
		{name: "what nothing cites holds no summary", draft: reportWith("12 lines.", "p95 is 2.4 s.", metric, ""), want: sdk.Repair, reasons: 1},
		{name: "a title holds what it says", draft: report("12 lines match in 2 files over the last 15 minutes.", logs), want: sdk.Release},
		{name: "a number in words is a number", draft: report("Thirteen lines matched.", logs), want: sdk.Repair, reasons: 1},
	}, malformed()...)
}

func malformed() []review {
	good := report("p95 is 2.4 s.", metric)
	return []review{
		{name: "a report with a key too many is sent back", draft: strings.Replace(good, `"summary"`, `"x":1,"summary"`, 1), want: sdk.Repair, reasons: 1},
		{name: "a draft that is no object is sent back", draft: `"text"`, want: sdk.Repair, reasons: 1},
		{name: "without evidence nothing is confirmed", draft: good, evidence: `[]`, want: sdk.Repair, reasons: 3},
		{name: "evidence that cannot be read ends it", draft: good, evidence: `[{"evidence_id":"m-3f9a-1"}]`, want: sdk.Fallback, reasons: 1},
		{name: "evidence that is no list ends it", draft: good, evidence: `{}`, want: sdk.Fallback, reasons: 1},
		{
			name:  "reasons have a bound",
			draft: report(numbers(), metric), want: sdk.Repair, reasons: 16,
		},
	}
}

func numbers() string {
	var all strings.Builder
	for i := range 100 {
		fmt.Fprintf(&all, " %d", 5000+i)
	}
	return all.String()
}
