package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk/report"
)

const whole = `{"summary":"S","findings":[{"statement":"F","severity":"warning","evidence_ids":["m-1"]}],"likely_cause":"","recommended_actions":["A"]}`

const oneItem = `{"evidence_id":"m-1","source":"metrics","title":"T","observed_at":"2026-11-30T10:15:00Z","facts":[{"name":"n","value":"1.5","unit":"s"}],"excerpt":"e"}`

func TestAWholeReportIsRead(t *testing.T) {
	got, err := report.DecodeReport([]byte(" \n" + whole + "\t"))
	want := report.Report{
		Summary: "S", RecommendedActions: []string{"A"},
		Findings: []report.Finding{{Statement: "F", Severity: report.Warning, EvidenceIDs: []string{"m-1"}}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestAReportThatIsNotWholeIsRefused(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing": ``, "no object": `[]`, "null": `null`, "a text": `"x"`, "two objects": whole + whole, "a fence": "```json\n" + whole + "\n```",
		"words around it":    "Here it is: " + whole,
		"a key too many":     strings.Replace(whole, `"likely_cause"`, `"evidence":[],"likely_cause"`, 1),
		"a repeated key":     strings.Replace(whole, `"likely_cause":""`, `"likely_cause":"","likely_cause":""`, 1),
		"another case":       strings.Replace(whole, `"summary"`, `"Summary"`, 1),
		"no summary":         strings.Replace(whole, `"summary":"S",`, ``, 1),
		"no cause":           strings.Replace(whole, `"likely_cause":"",`, ``, 1),
		"no actions":         strings.Replace(whole, `,"recommended_actions":["A"]`, ``, 1),
		"a blank summary":    strings.Replace(whole, `"S"`, `" \n"`, 1),
		"a null summary":     strings.Replace(whole, `"S"`, `null`, 1),
		"a number":           strings.Replace(whole, `"S"`, `7`, 1),
		"no finding":         `{"summary":"S","findings":[],"likely_cause":"","recommended_actions":[]}`,
		"findings are null":  `{"summary":"S","findings":null,"likely_cause":"","recommended_actions":[]}`,
		"a null finding":     `{"summary":"S","findings":[null],"likely_cause":"","recommended_actions":[]}`,
		"a finding too bare": strings.Replace(whole, `"severity":"warning",`, ``, 1),
		"a wrong severity":   strings.Replace(whole, `warning`, `Warning`, 1),
		"a blank statement":  strings.Replace(whole, `"F"`, `""`, 1),
		"cites nothing":      strings.Replace(whole, `["m-1"]`, `[]`, 1),
		"cites null":         strings.Replace(whole, `["m-1"]`, `null`, 1),
		"cites one twice":    strings.Replace(whole, `["m-1"]`, `["m-1","m-1"]`, 1),
		"cites a number":     strings.Replace(whole, `["m-1"]`, `[1]`, 1),
		"a key in a finding": strings.Replace(whole, `"severity"`, `"note":"","severity"`, 1),
		"a repeated one":     strings.Replace(whole, `"severity"`, `"statement":"G","severity"`, 1),
		"a blank action":     strings.Replace(whole, `["A"]`, `["A",""]`, 1),
		"actions are a text": strings.Replace(whole, `["A"]`, `"A"`, 1),
		"no UTF-8":           strings.Replace(whole, `"S"`, "\"\xff\"", 1),
		"a raw line end":     strings.Replace(whole, `"S"`, "\"a\nb\"", 1),
		"too many ids":       strings.Replace(whole, `["m-1"]`, `[`+many(report.MaxCited+1)+`]`, 1),
		"too many actions":   strings.Replace(whole, `["A"]`, `[`+many(report.MaxActions+1)+`]`, 1),
		"too many findings": `{"summary":"S","likely_cause":"","recommended_actions":[],"findings":[` +
			strings.TrimSuffix(strings.Repeat(`{"statement":"F","severity":"info","evidence_ids":["m-1"]},`, report.MaxFindings+1), ",") + `]}`,
	} {
		if got, err := report.DecodeReport([]byte(raw)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

// many lists n texts.
func many(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%q", fmt.Sprint(i))
	}
	return strings.Join(list, ",")
}

func TestADraftIsATextOrAReport(t *testing.T) {
	text, err := report.DecodeDraft([]byte(`{"text":"Hello."}`))
	if err != nil || text.Report != nil || text.Text != "Hello." {
		t.Errorf("%+v, %v", text, err)
	}
	if typed, err := report.DecodeDraft([]byte(whole)); err != nil || typed.Report == nil {
		t.Errorf("%+v, %v", typed, err)
	}
	for _, raw := range []string{`{"text":"a","text":"b"}`, `{"text":"a","summary":"S"}`, `{}`, `"a"`, `{"text":null}`} {
		if got, err := report.DecodeDraft([]byte(raw)); err == nil {
			t.Errorf("%s is read as %+v", raw, got)
		}
	}
}

func TestEvidenceIsReadAndWrittenTheSame(t *testing.T) {
	items, err := report.DecodeResult([]byte(`{"note":"n","evidence":[` + oneItem + `]}`))
	if err != nil || len(items) != 1 {
		t.Fatalf("%+v, %v", items, err)
	}
	if got := string(items[0].Append(nil)); got != oneItem {
		t.Errorf("written as %s", got)
	}
}

func TestEvidenceThatIsMalformedIsRefused(t *testing.T) {
	for name, raw := range map[string]string{
		"no list": `{}`, "null": `null`, "a null item": `[null]`, "two values": `[] []`,
		"no id": strings.Replace(oneItem, `"evidence_id":"m-1",`, ``, 1), "an odd id": strings.Replace(oneItem, `m-1`, `m 1`, 1),
		"no source": strings.Replace(oneItem, `"metrics"`, `""`, 1), "no title": strings.Replace(oneItem, `"T"`, `" "`, 1),
		"no time": strings.Replace(oneItem, `2026-11-30T10:15:00Z`, `yesterday`, 1), "a key too many": strings.Replace(oneItem, `"source"`, `"x":1,"source"`, 1),
		"a repeated key": strings.Replace(oneItem, `"source"`, `"excerpt":"","source"`, 1), "a bare fact": strings.Replace(oneItem, `"name":"n",`, ``, 1),
		"a list as value": strings.Replace(oneItem, `"1.5"`, `[]`, 1), "facts of null": strings.Replace(oneItem, `[{"name":"n","value":"1.5","unit":"s"}]`, `null`, 1),
		"a long title": strings.Replace(oneItem, `"T"`, `"`+strings.Repeat("x", 1025)+`"`, 1),
	} {
		if strings.HasPrefix(raw, `{"evidence_id"`) || strings.HasPrefix(raw, `{"source"`) {
			raw = "[" + raw + "]"
		}
		if got, err := report.DecodeItems([]byte(raw)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

func FuzzAReportThatIsReadIsWrittenWhole(f *testing.F) {
	f.Add(whole)
	f.Add(strings.ReplaceAll(whole, "S", `\ud800\u2028 "`))
	f.Add(`{"text":"x"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		read, err := report.DecodeReport([]byte(raw))
		if err != nil {
			return
		}
		if !json.Valid([]byte(raw)) {
			t.Fatalf("%q is no JSON", raw)
		}
		again, err := report.DecodeReport(read.Append(nil, nil))
		if diff := cmp.Diff(read, again); err != nil || diff != "" {
			t.Fatalf("%q: %v\n%s", raw, err, diff)
		}
	})
}

func FuzzEvidenceThatIsReadIsWrittenWhole(f *testing.F) {
	f.Add(`{"evidence":[` + oneItem + `],"note":"n"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		items, err := report.DecodeResult([]byte(raw))
		if err != nil {
			return
		}
		for _, item := range items {
			again, err := report.DecodeItems(append(item.Append([]byte("[")), ']'))
			if err != nil || len(again) != 1 || !cmp.Equal(item.Append(nil), again[0].Append(nil)) {
				t.Fatalf("%q: %v", raw, err)
			}
		}
	})
}
