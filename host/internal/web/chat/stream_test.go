package chat

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

func statuses(codes ...statusCode) string {
	var out strings.Builder
	for _, code := range codes {
		out.WriteString(statusFrame(code))
	}
	return out.String()
}

func TestADiagnosisIsTheseBytes(t *testing.T) {
	b := newBook(diagnosed(ended("DIAGNOSIS_REPORT", reportJSON)))
	answer := post(t.Context(), served(t, b), "/api/chat", hello)
	want := metadataFrame + statuses(routing, planning, collecting, analyzing, verifying) +
		frame("content", `{"content_type":"DIAGNOSIS_REPORT","payload":`+reportJSON+`}`) +
		frame("done", `{"outcome":"SUCCESS"}`)
	if diff := cmp.Diff(want, named(t, b, answer.Body.String())); diff != "" {
		t.Error(diff)
	}
	for key, value := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache"} {
		if got := answer.Header().Get(key); got != value {
			t.Errorf("%s: %q", key, got)
		}
	}
	if _, cancelled := b.stored(); len(cancelled) > 0 {
		t.Errorf("a run that was over was cancelled: %v", cancelled)
	}
}

func TestAGeneralAnswerIsTheseBytes(t *testing.T) {
	b := newBook(func(_ context.Context, b *book, r run.Run) {
		b.add(r, run.Event{Kind: run.SessionStart, Metadata: json.RawMessage(`{"profile":"general"}`)}, review("verifying"),
			ended("ANSWER", `{"text":"Hello <b>you</b>."}`))
	})
	answer := post(t.Context(), served(t, b), "/api/chat", hello)
	want := metadataFrame + statuses(routing, verifying) +
		frame("content", `{"content_type":"ANSWER","payload":{"text":"Hello <b>you</b>."}}`) +
		frame("done", `{"outcome":"SUCCESS"}`)
	if diff := cmp.Diff(want, named(t, b, answer.Body.String())); diff != "" {
		t.Error(diff)
	}
}

func TestAFallbackIsTheseBytes(t *testing.T) {
	b := newBook(diagnosed(review("repairing"), review("verifying"), review("repairing"),
		ended("FALLBACK", `{"text":"I have no answer."}`)))
	answer := post(t.Context(), served(t, b), "/api/chat", hello)
	want := metadataFrame +
		statuses(routing, planning, collecting, analyzing, verifying, repairing, verifying, repairing) +
		frame("content", `{"content_type":"FALLBACK","payload":{"text":"I have no answer."}}`) +
		frame("done", `{"outcome":"FALLBACK"}`)
	if diff := cmp.Diff(want, named(t, b, answer.Body.String())); diff != "" {
		t.Error(diff)
	}
}

func TestAnAnswerThatIsNoTypedContentIsAFailure(t *testing.T) {
	for _, answer := range []string{
		"", "The pool is exhausted.", "null", "[]", `{"content_type":"ANSWER"}`, `{"content_type":"ANSWER","payload":null}`,
		`{"content_type":"ANSWER","payload":{"text":" "}}`, `{"content_type":"ANSWER","payload":{"text":5}}`,
		`{"content_type":"ANSWER","payload":{"text":"x","draft":"y"}}`, `{"content_type":"TOKEN","payload":{"text":"x"}}`,
		`{"content_type":"ANSWER","payload":{"text":"x"}} {}`, `{"content_type":"ANSWER","payload":{"text":"x"},"draft":"y"}`,
		`{"content_type":"DIAGNOSIS_REPORT","payload":{"text":"x"}}`,
		`{"content_type":"DIAGNOSIS_REPORT","payload":` + strings.Replace(reportJSON, "critical", "fatal", 1) + `}`,
		`{"content_type":"DIAGNOSIS_REPORT","payload":` + strings.Replace(reportJSON, `"source"`, `"sql"`, 1) + `}`,
		`{"content_type":"DIAGNOSIS_REPORT","payload":` + strings.Replace(reportJSON, `"statement"`, `"Statement"`, 1) + `}`,
	} {
		b := newBook(func(_ context.Context, b *book, r run.Run) {
			b.add(r, run.Event{Kind: run.SessionEnd, Content: answer})
		})
		got := named(t, b, post(t.Context(), served(t, b), "/api/chat", hello).Body.String())
		want := metadataFrame + statuses(routing) + failureFrame(internalFailure) + frame("done", `{"outcome":"FAILED"}`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", answer, diff)
		}
	}
}

func TestAReportOf300KBIsOneContentEvent(t *testing.T) {
	text := strings.Repeat("Ein Wort & ein „Zitat“. ", 12_000)
	encoded, err := web.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	payload := strings.Replace(reportJSON, `"The pool is exhausted."`, string(encoded), 1)
	b := newBook(diagnosed(ended("DIAGNOSIS_REPORT", payload)))
	got := post(t.Context(), served(t, b), "/api/chat", hello).Body.String()
	if len(got) < 300_000 || strings.Count(got, "event: content\n") != 1 || strings.Count(got, "\ndata: ") != 8 {
		t.Errorf("%d bytes, %d content events", len(got), strings.Count(got, "event: content\n"))
	}
	if !strings.Contains(got, frame("content", `{"content_type":"DIAGNOSIS_REPORT","payload":`+payload+`}`)) {
		t.Error("the report is not whole")
	}
}

// Every kind of event means a status, an end, or nothing; none of them shows what it holds.
func TestEveryKindOfEventIsTold(t *testing.T) {
	told := map[run.EventKind]string{
		run.SessionStart: statusFrame(planning), run.ToolCalled: statusFrame(collecting),
		run.ToolResult: statusFrame(analyzing), run.AnswerReview: statusFrame(repairing),
		run.Errored:    failureFrame(modelSaturated) + frame("done", `{"outcome":"FAILED"}`),
		run.SessionEnd: failureFrame(internalFailure) + frame("done", `{"outcome":"FAILED"}`),
	}
	silent := map[run.EventKind]bool{
		run.Think: true, run.StepEnd: true, run.AskUser: true, run.Compaction: true, run.AnswerDelta: true,
		run.ToolProgress: true,
	}
	for _, kind := range run.EventKinds() {
		b := newBook(func(_ context.Context, b *book, r run.Run) {
			b.add(r, planted(kind), run.Event{Kind: run.Errored, Metadata: json.RawMessage(`{"code":"run_timeout"}`)})
		})
		got := named(t, b, post(t.Context(), served(t, b), "/api/chat", hello).Body.String())
		if told[kind] == "" && !silent[kind] {
			t.Errorf("nobody said what %s means", kind)
		}
		want := metadataFrame + statuses(routing) + told[kind]
		if !kind.Terminal() {
			want += failureFrame(timedOut) + frame("done", `{"outcome":"FAILED"}`)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

const canary = "canary-4711-SELECT-/etc/shadow"

// planted is an event with a secret in every field that it has.
func planted(kind run.EventKind) run.Event {
	took := time.Second
	raw := json.RawMessage(`{"profile":"diagnosis","stage":"repairing","code":"model_saturated","error":"` + canary +
		`","` + canary + `":"` + canary + `","reason":"` + canary + `"}`)
	return run.Event{
		Kind: kind, Content: canary, ToolName: canary, ToolArgs: raw, ToolCallID: canary, Duration: &took,
		Citations: []string{canary}, ApprovalID: canary, Metadata: raw, Memo: raw,
	}
}

func TestNothingThatAnEventHoldsLeaves(t *testing.T) {
	for _, path := range []string{"/api/chat", "/api/ai_ops"} {
		for _, end := range []run.Event{
			planted(run.Errored), planted(run.SessionEnd), ended("FALLBACK", `{"text":"fixed"}`),
			ended("ANSWER", `{"text":"x","`+canary+`":1}`),
		} {
			b := newBook(func(_ context.Context, b *book, r run.Run) {
				for _, kind := range run.EventKinds() {
					if !kind.Terminal() {
						b.add(r, planted(kind))
					}
				}
				b.add(r, end)
			})
			body := map[string]string{"/api/chat": hello, "/api/ai_ops": ""}[path]
			if got := post(t.Context(), served(t, b), path, body); strings.Contains(got.Body.String(), "canary") {
				t.Errorf("%s: %s", path, got.Body)
			}
		}
	}
}

func TestSecretsOfTheServiceAreMasked(t *testing.T) {
	b := newBook(diagnosed(ended("ANSWER", `{"text":"The key is sk-12345678."}`)))
	handler := served(t, b, func(_ *Config, door *web.Config) { door.Secrets = []string{"sk-12345678"} })
	got := post(t.Context(), handler, "/api/chat", hello).Body.String()
	if strings.Contains(got, "sk-12345678") || !strings.Contains(got, web.Redacted) {
		t.Error(got)
	}
}

func TestEveryCodeOfARunBecomesAFailure(t *testing.T) {
	want := map[run.Code]failureCode{
		run.CodeRouting:          routingFailed,
		run.CodeModelUnavailable: modelUnavailable, run.CodeModelTimeout: modelUnavailable,
		run.CodeModelProtocol: modelUnavailable, run.CodeModelRefused: modelUnavailable,
		run.CodeModelSaturated: modelSaturated,
		run.CodeBudget:         budgetExhausted, run.CodeContextTooLarge: budgetExhausted,
		run.CodeTimeout: timedOut, run.CodeStore: storeUnavailable,
		run.CodeNotFound: internalFailure, run.CodeConflict: internalFailure, run.CodeRunExists: internalFailure,
		run.CodeKeyReused: internalFailure, run.CodeSessionBusy: internalFailure, run.CodeInvalid: internalFailure,
		run.CodeSaturated: internalFailure, run.CodeNotReady: internalFailure, run.CodeInterrupted: internalFailure,
		run.CodeCancelled: internalFailure, run.CodeApprovalSettled: internalFailure, run.CodeApprovalStale: internalFailure,
		run.CodePolicyDenied: internalFailure, run.CodeInternal: internalFailure, run.CodeToolSaturated: internalFailure,
		run.CodeCrashLoop: internalFailure, run.CodeOutcomeUnknown: internalFailure, run.CodeCompacted: internalFailure,
		run.CodeChoice: internalFailure,
	}
	for _, code := range run.Codes() {
		wanted, known := want[code]
		if !known {
			t.Errorf("nobody said what %s becomes", code)
		}
		b := newBook(func(_ context.Context, b *book, r run.Run) {
			b.add(r, run.Event{Kind: run.Errored, Metadata: json.RawMessage(`{"code":"` + string(code) + `"}`)})
		})
		got := named(t, b, post(t.Context(), served(t, b), "/api/chat", hello).Body.String())
		ends := metadataFrame + statuses(routing) + failureFrame(wanted) + frame("done", `{"outcome":"FAILED"}`)
		if diff := cmp.Diff(ends, got); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}

func TestCallsOfOneStepAreAnalyzedWhenAllAreBack(t *testing.T) {
	called, back := run.Event{Kind: run.ToolCalled}, run.Event{Kind: run.ToolResult}
	var r reading
	var got []statusCode
	for _, step := range []struct {
		event run.Event
		id    string
	}{{called, "1"}, {called, "2"}, {back, "1"}, {back, "2"}, {called, "3"}, {back, "3"}} {
		step.event.ToolCallID = step.id
		if code := r.status(step.event); code != "" {
			got = append(got, code)
		}
	}
	want := []statusCode{collecting, collecting, analyzing, collecting, analyzing}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSilenceIsBrokenBetweenEventsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook(func(_ context.Context, b *book, r run.Run) {
			<-time.After(40 * time.Second)
			b.add(r, ended("ANSWER", `{"text":"late"}`))
		})
		got := named(t, b, post(t.Context(), served(t, b), "/api/chat", hello).Body.String())
		keep := ": keepalive\n\n"
		want := metadataFrame + statuses(routing) + keep + keep +
			frame("content", `{"content_type":"ANSWER","payload":{"text":"late"}}`) + frame("done", `{"outcome":"SUCCESS"}`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEventsThatCannotBeReadAreAFailureAndEndTheRun(t *testing.T) {
	b := newBook(nil)
	b.broken = &run.Error{Code: run.CodeStore, Sentence: canary, Cause: errors.New(canary)}
	got := named(t, b, post(t.Context(), served(t, b), "/api/chat", hello).Body.String())
	want := metadataFrame + statuses(routing) + failureFrame(storeUnavailable) + frame("done", `{"outcome":"FAILED"}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	runs, cancelled := b.stored()
	if diff := cmp.Diff([]string{runs[0].ID + " STREAM_FAILED"}, cancelled); diff != "" {
		t.Error(diff)
	}
}

func TestAPanicOfTheWorkerIsAFailure(t *testing.T) {
	b := newBook(nil)
	handler := served(t, b, func(cfg *Config, _ *web.Config) { cfg.Records = panicking{b} })
	got := named(t, b, post(t.Context(), handler, "/api/chat", hello).Body.String())
	want := metadataFrame + statuses(routing) + failureFrame(internalFailure) + frame("done", `{"outcome":"FAILED"}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// panicking is a book that panics when events are read.
type panicking struct{ *book }

func (panicking) Events(context.Context, run.Ref, int64, int) ([]run.Event, error) { panic(canary) }

func TestNoStreamHasNumberedFrames(t *testing.T) {
	numbered := regexp.MustCompile(`(?m)^(id|retry):`)
	for path, body := range map[string]string{"/api/chat": hello, "/api/ai_ops": ""} {
		b := newBook(diagnosed(ended("DIAGNOSIS_REPORT", reportJSON)))
		answer := post(t.Context(), served(t, b), path, body)
		if answer.Code != http.StatusOK || numbered.MatchString(answer.Body.String()) {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
}
