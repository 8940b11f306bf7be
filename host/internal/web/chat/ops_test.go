package chat

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// opsGolden is /api/ai_ops as its clients know it. Nothing that is set for the chat may change a byte of it.
const opsGolden = metadataFrame +
	"event: message\n" +
	`data: {"type":"content","data":"# Diagnosis\n\nThe pool is exhausted.\n\n## Findings\n\n` +
	`1. **critical** Connections stood at 50. (m-1)\n\n## Likely cause\n\nA leak.\n\n## Recommended actions\n\n` +
	`1. Restart it.\n\n## Evidence\n\n- m-1: Connections (prometheus, 2026-06-11T00:00:00Z)\n"}` + "\n\n" +
	"event: message\n" + `data: {"type":"done","data":null}` + "\n\n"

func TestNoSettingOfTheChatAltersTheDiagnosisOfAlerts(t *testing.T) {
	for name, change := range map[string]func(*Config, *web.Config){
		"defaults":       func(*Config, *web.Config) {},
		"short requests": func(cfg *Config, _ *web.Config) { cfg.MaxRequestBytes = 1 },
		"short times":    func(cfg *Config, _ *web.Config) { cfg.StreamTimeout, cfg.RunTimeout = time.Minute, time.Second },
		"small crew":     func(cfg *Config, _ *web.Config) { cfg.Worker = newCrew(1) },
		"rare signs":     func(cfg *Config, _ *web.Config) { cfg.KeepAlive, cfg.Poll = time.Hour, time.Hour },
		"secrets":        func(_ *Config, door *web.Config) { door.Secrets = []string{canary} },
	} {
		b := newBook(diagnosed(ended("DIAGNOSIS_REPORT", reportJSON)))
		answer := post(t.Context(), served(t, b, change), "/api/ai_ops", "")
		if diff := cmp.Diff(opsGolden, named(t, b, answer.Body.String())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestADiagnosisOfAlertsWithoutAReportSaysSo(t *testing.T) {
	message := func(kind, data string) string {
		return frame("message", `{"type":"`+kind+`","data":"`+data+`"}`) + frame("message", `{"type":"done","data":null}`)
	}
	for _, c := range []struct {
		end  run.Event
		want string
	}{
		{ended("FALLBACK", `{"text":"I have no * answer."}`), message("content", "I have no * answer.")},
		{ended("ANSWER", `{"text":"2 * 3"}`), message("content", `2 \\* 3`)},
		{
			run.Event{Kind: run.Errored, Content: canary, Metadata: json.RawMessage(`{"code":"model_unavailable"}`)},
			message("error", modelUnavailable.message()),
		},
		{run.Event{Kind: run.SessionEnd, Content: canary}, message("error", internalFailure.message())},
	} {
		b := newBook(diagnosed(review("repairing"), c.end))
		got := named(t, b, post(t.Context(), served(t, b), "/api/ai_ops", "").Body.String())
		if diff := cmp.Diff(metadataFrame+c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAReportWithoutACauseHasNoHeadingForOne(t *testing.T) {
	want := strings.Replace(opsGolden, `## Likely cause\n\nA leak.\n\n`, "", 1)
	b := newBook(diagnosed(ended("DIAGNOSIS_REPORT", strings.Replace(reportJSON, `"A leak."`, `""`, 1))))
	got := named(t, b, post(t.Context(), served(t, b), "/api/ai_ops", "").Body.String())
	if diff := cmp.Diff(want, got); diff != "" || want == opsGolden {
		t.Error(diff)
	}
}

func TestADiagnosisOfAlertsThatCannotBeFollowedIsAnError(t *testing.T) {
	b := newBook(nil)
	b.broken = &run.Error{Code: run.CodeStore, Sentence: canary}
	got := named(t, b, post(t.Context(), served(t, b), "/api/ai_ops", "").Body.String())
	want := metadataFrame + frame("message", `{"type":"error","data":"`+storeUnavailable.message()+`"}`) +
		frame("message", `{"type":"done","data":null}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestADiagnosisOfAlertsSaysThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook(func(_ context.Context, b *book, r run.Run) {
			<-time.After(40 * time.Second)
			b.add(r, ended("DIAGNOSIS_REPORT", reportJSON))
		})
		got := named(t, b, post(t.Context(), served(t, b), "/api/ai_ops", "").Body.String())
		keep := ": keepalive\n\n"
		if diff := cmp.Diff(strings.Replace(opsGolden, metadataFrame, metadataFrame+keep+keep, 1), got); diff != "" {
			t.Error(diff)
		}
	})
}

// opsMoves is everything that can be asked of the voice.
func opsMoves() []func(*opsVoice) error {
	return []func(*opsVoice) error{
		func(v *opsVoice) error { return v.begin(run.Run{}) },
		func(v *opsVoice) error { _, err := v.tell(run.Event{Kind: run.Think}); return err },
		func(v *opsVoice) error { _, err := v.tell(ended("ANSWER", `{"text":"x"}`)); return err },
		func(v *opsVoice) error { _, err := v.tell(run.Event{Kind: run.Errored}); return err },
		func(v *opsVoice) error { return v.fail(errOrder) },
		(*opsVoice).keepAlive,
		func(v *opsVoice) error { v.leave(); return nil },
	}
}

func TestNoSequenceOfCallsWritesAnotherOrderOfMessages(t *testing.T) {
	order := regexp.MustCompile(`^(metadata (: )*(message message )?)?$`)
	for sequence := range 7 * 7 * 7 * 7 * 7 {
		to := &tape{}
		v := &opsVoice{to: to}
		for rest := sequence; rest > 0; rest /= 7 {
			_ = opsMoves()[rest%7](v)
		}
		if sent := strings.Join(append(to.events, ""), " "); !order.MatchString(sent) {
			t.Fatalf("%d wrote %s", sequence, sent)
		}
	}
}

func TestNoTextOfAReportBecomesMarkup(t *testing.T) {
	for text, want := range map[string]string{
		"plain text, 5.2 ms (p99): fine": "plain text, 5.2 ms (p99): fine",
		"# not a heading":                `\# not a heading`,
		"- not a list":                   `\- not a list`,
		"1. not a list":                  `1\. not a list`,
		"12) not a list":                 `12\) not a list`,
		"*a* _b_ `c` ~d~":                "\\*a\\* \\_b\\_ \\`c\\` \\~d\\~",
		"[a](https://evil.example)":      `\[a\](https\://evil.example)`,
		"![a](b) <img src=x> &amp;":      `\!\[a\](b) \<img src=x\> \&amp;`,
		"a\n\n# b\u2028- c":              `a \# b - c`,
		`back\slash | cell`:              `back\\slash \| cell`,
		"=====":                          `\=====`,
		"":                               "",
	} {
		if diff := cmp.Diff(want, escaped(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestEveryTextOfAReportIsEscaped(t *testing.T) {
	const wild = "*wild*"
	r := report{
		Summary: wild, LikelyCause: wild, RecommendedActions: []string{wild},
		Findings: []finding{{wild, infoSeverity, []string{wild}}}, Evidence: []evidence{{wild, wild, wild, wild}},
	}
	got := r.markdown()
	if strings.Count(got, `\*wild\*`) != 9 || strings.Count(got, "wild") != 9 {
		t.Error(got)
	}
}

func TestAReportWithoutFindingsHasNoEmptyLists(t *testing.T) {
	want := "# Diagnosis\n\nNothing fires.\n\n## Likely cause\n\nNone.\n"
	if diff := cmp.Diff(want, report{Summary: "Nothing fires.", LikelyCause: "None."}.markdown()); diff != "" {
		t.Error(diff)
	}
}
