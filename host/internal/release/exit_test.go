package release_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/release"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// said is a guard that says one thing and remembers what it was asked.
type said struct {
	verdict sdk.GuardVerdict
	reasons []string
	err     error
	asked   *[]sdk.ReviewRequest
}

func (s said) Review(_ context.Context, request sdk.ReviewRequest) (sdk.Review, error) {
	if s.asked != nil {
		*s.asked = append(*s.asked, request)
	}
	return sdk.Review{Verdict: s.verdict, Reasons: s.reasons}, s.err
}

func lend(guards ...release.Guard) release.Guards {
	return func() ([]release.Guard, func()) { return guards, func() {} }
}

const item = `{"evidence_id":"m-1","source":"metrics","title":"Metrics up: 1 series","observed_at":"2026-11-30T10:15:00Z","facts":[{"name":"up","value":"0","unit":""}],"excerpt":"SECRET raw data"}`

const typed = `{"summary":"It is <down>.","findings":[{"statement":"up is 0.","severity":"critical","evidence_ids":["m-1"]}],"likely_cause":"","recommended_actions":["Start it."]}`

// found is the result of an evidence tool.
func found(items ...string) run.Event {
	return run.Event{
		Kind: run.ToolResult, ToolName: "query_metrics", Time: time.Now(), Metadata: json.RawMessage(`{"is_error":false}`),
		Content: `{"evidence":[` + strings.Join(items, ",") + `]}`,
	}
}

func reports(guards ...release.Guard) release.ExitConfig {
	return release.ExitConfig{
		Kind: release.ContentReport, Guards: lend(guards...), Repairs: 1, MaxContentBytes: 262144,
		Canonical: release.Canonical{TTL: 10 * time.Minute, MaxItems: 4, MaxItemBytes: 1000, MaxBytes: 2000},
	}
}

func judge(t *testing.T, cfg release.ExitConfig, text string, results ...run.Event) release.Ruling {
	t.Helper()
	return release.NewExit(cfg).Judge(t.Context(), release.Draft{Question: "Why?", Text: text, Round: 1, Results: results})
}

func TestAReleasedReportLeavesWithTheEvidenceItCitesAndNoRawData(t *testing.T) {
	asked := []sdk.ReviewRequest{}
	unused := strings.Replace(item, "m-1", "m-2", 1)
	got := judge(t, reports(said{verdict: sdk.Release, asked: &asked}), "\n"+typed+" ", found(item, unused))
	want := release.Ruling{Released: true, Text: `{"content_type":"DIAGNOSIS_REPORT","payload":{"summary":"It is <down>.",` +
		`"findings":[{"statement":"up is 0.","severity":"critical","evidence_ids":["m-1"]}],"likely_cause":"","recommended_actions":["Start it."],` +
		`"evidence":[{"evidence_id":"m-1","source":"metrics","title":"Metrics up: 1 series","observed_at":"2026-11-30T10:15:00Z"}]}}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(asked) != 1 || string(asked[0].Draft) != typed || string(asked[0].Evidence) != "["+item+","+unused+"]" || asked[0].Question != "Why?" {
		t.Errorf("asked %s", asked)
	}
}

func TestAnAnswerLeavesAsText(t *testing.T) {
	cfg := reports(said{verdict: sdk.Release})
	cfg.Kind = release.ContentAnswer
	if got := judge(t, cfg, " Hello \"you\".\n"); !got.Released || got.Text != `{"content_type":"ANSWER","payload":{"text":"Hello \"you\"."}}` {
		t.Errorf("%+v", got)
	}
	if got := judge(t, cfg, " \n"); got.Released {
		t.Errorf("%+v", got)
	}
}

func TestWhateverRejectsGivesTheSameRulingButForItsAdvice(t *testing.T) {
	pass, good := said{verdict: sdk.Release}, found(item)
	old, failed, elsewhere := good, good, good
	old.Time = time.Now().Add(-11 * time.Minute)
	failed.Metadata = json.RawMessage(`{"is_error":true}`)
	elsewhere.ToolName = "exec"
	tight := reports(pass)
	tight.MaxContentBytes = 100
	private := reports(pass)
	private.Private = []string{"You must always say that it is down because up is zero. Start it, and stop it again."}
	for name, got := range map[string]release.Ruling{
		"no JSON":                   judge(t, reports(pass), "It is down.", good),
		"a fence":                   judge(t, reports(pass), "```json\n"+typed+"\n```", good),
		"evidence of its own":       judge(t, reports(pass), strings.Replace(typed, `"summary"`, `"evidence":[],"summary"`, 1), good),
		"an unknown id":             judge(t, reports(pass), typed),
		"an id of a failed call":    judge(t, reports(pass), typed, failed),
		"an id of another tool":     judge(t, reports(pass), typed, elsewhere),
		"evidence too old":          judge(t, reports(pass), typed, old),
		"one id twice":              judge(t, reports(pass), typed, good, good),
		"too many items":            judge(t, reports(pass), typed, found(item, other(2), other(3), other(4), other(5))),
		"an item too large":         judge(t, reports(pass), typed, found(item, strings.Replace(other(2), "SECRET", strings.Repeat("x", 900), 1))),
		"evidence too large":        judge(t, reports(pass), typed, found(item, large(2), large(3), large(4))),
		"malformed evidence":        judge(t, reports(pass), typed, good, found(`{}`)),
		"a result that is no JSON":  judge(t, reports(pass), typed, good, run.Event{Kind: run.ToolResult, ToolName: "query_logs", Time: time.Now(), Metadata: json.RawMessage(`{}`), Content: "text"}),
		"a result without metadata": judge(t, reports(pass), typed, good, run.Event{Kind: run.ToolResult, ToolName: "query_logs", Time: time.Now(), Content: `{"evidence":[]}`}),
		"a draft too large":         judge(t, tight, typed, good),
		"words of a prompt":         judge(t, private, strings.Replace(typed, "It is <down>.", "So it is *down*, because up is zero! Start.", 1), good),
		"no guard":                  judge(t, reports(), typed, good),
		"the first guard":           judge(t, reports(said{verdict: sdk.Repair, reasons: []string{"r"}}, pass), typed, good),
		"the last guard":            judge(t, reports(pass, said{verdict: sdk.Fallback}), typed, good),
		"a guard that traps":        judge(t, reports(pass, said{verdict: sdk.Release, err: errors.New("trap at SECRET")}), typed, good),
		"a guard without a verdict": judge(t, reports(pass, said{}), typed, good),
		"nonsense":                  judge(t, reports(pass, said{verdict: "maybe"}), typed, good),
	} {
		if got.Released || got.Text != "" || got.Advice == "" {
			t.Errorf("%s: %+v", name, got)
		}
		if strings.Contains(got.Advice, "SECRET") {
			t.Errorf("%s: the advice is %q", name, got.Advice)
		}
	}
	exit := release.NewExit(reports())
	if exit.Repairs() != 1 || exit.Fallback() != release.NewExit(release.ExitConfig{}).Fallback() || !json.Valid([]byte(exit.Fallback())) {
		t.Errorf("%d repairs, then %s", exit.Repairs(), exit.Fallback())
	}
}

func other(n int) string { return strings.Replace(item, "m-1", fmt.Sprintf("m-%d", n), 1) }

func large(n int) string { return strings.Replace(other(n), "SECRET", strings.Repeat("x", 700), 1) }

func TestGuardsAreAskedInOrderUntilOneRejects(t *testing.T) {
	var asked []sdk.ReviewRequest
	back := 0
	cfg := reports()
	cfg.Guards = func() ([]release.Guard, func()) {
		return []release.Guard{
			said{verdict: sdk.Release, asked: &asked}, said{verdict: sdk.Repair, reasons: []string{"a", "b"}, asked: &asked}, said{asked: &asked},
		}, func() { back++ }
	}
	got := judge(t, cfg, typed, found(item))
	if len(asked) != 2 || back != 1 || !strings.Contains(got.Advice, "- a\n- b\n") {
		t.Errorf("asked %d, given back %d, %q", len(asked), back, got.Advice)
	}
}

func TestAdviceHasABound(t *testing.T) {
	reasons := make([]string, 1000)
	for i := range reasons {
		reasons[i] = strings.Repeat("é\n", 5000)
	}
	got := judge(t, reports(said{verdict: sdk.Repair, reasons: reasons}), typed, found(item))
	if len(got.Advice) > 12_000 || strings.Count(got.Advice, "\n- ") != 21 {
		t.Errorf("%d bytes, %d lines", len(got.Advice), strings.Count(got.Advice, "\n- "))
	}
}

func TestAReportOf300KBPassesWhereTheBoundAllowsIt(t *testing.T) {
	huge := strings.Replace(typed, "up is 0.", strings.Repeat("up is 0. ", 300_000/9), 1)
	cfg := reports(said{verdict: sdk.Release})
	if got := judge(t, cfg, huge, found(item)); got.Released {
		t.Error("it passed the bound of 262144 bytes")
	}
	cfg.MaxContentBytes = 400_000
	if got := judge(t, cfg, huge, found(item)); !got.Released || len(got.Text) < 300_000 {
		t.Errorf("%.200v", got)
	}
}

func TestASecondOpinionCanOnlyReject(t *testing.T) {
	for answer, want := range map[string]bool{
		"RELEASE": true, " RELEASE\n": true, "release": false, "RELEASE.": false, "": false, "REJECT": false, "I would RELEASE it": false,
	} {
		ask := func(context.Context, string, string) (string, error) { return answer, nil }
		got := judge(t, reports(said{verdict: sdk.Release}, release.SecondOpinion{Ask: ask, System: "s"}), typed, found(item))
		if got.Released != want {
			t.Errorf("%q: %+v", answer, got)
		}
		if got := judge(t, reports(said{verdict: sdk.Repair}, release.SecondOpinion{Ask: ask}), typed, found(item)); got.Released {
			t.Errorf("%q released what a guard rejected", answer)
		}
	}
	silent := func(context.Context, string, string) (string, error) { return "RELEASE", errors.New("gone") }
	if got := judge(t, reports(release.SecondOpinion{Ask: silent}), typed, found(item)); got.Released {
		t.Errorf("%+v", got)
	}
}

func FuzzOnlyAWholeReportLeaves(f *testing.F) {
	f.Add(typed)
	f.Add(`{"summary":"S","findings":[],"likely_cause":"","recommended_actions":[]}`)
	f.Add(typed + typed)
	f.Fuzz(func(t *testing.T, text string) {
		got := judge(t, reports(said{verdict: sdk.Release}), text, found(item))
		if !got.Released {
			return
		}
		var content struct {
			ContentType string `json:"content_type"`
			Payload     struct {
				Evidence []struct {
					ID string `json:"evidence_id"`
				} `json:"evidence"`
			} `json:"payload"`
		}
		if err := json.Unmarshal([]byte(got.Text), &content); err != nil || content.ContentType != "DIAGNOSIS_REPORT" || len(content.Payload.Evidence) != 1 {
			t.Fatalf("%q became %s: %v", text, got.Text, err)
		}
	})
}
