package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/release"
	"github.com/fastreact/fastreact/host/internal/run"
)

const fallback = `{"content_type":"FALLBACK","payload":{"text":"Nothing that is certain."}}`

// exit is a way out that is made of functions.
type exit struct {
	repairs int
	judge   func(context.Context, release.Draft) release.Ruling
}

func (e exit) Judge(ctx context.Context, draft release.Draft) release.Ruling {
	return e.judge(ctx, draft)
}
func (e exit) Repairs() int   { return e.repairs }
func (exit) Fallback() string { return fallback }

// lets releases drafts that begin with "good", and gives advice about others.
func lets(advice string) func(context.Context, release.Draft) release.Ruling {
	return func(_ context.Context, draft release.Draft) release.Ruling {
		if strings.HasPrefix(draft.Text, "good") {
			return release.Ruling{Released: true, Text: `{"content_type":"ANSWER","payload":{"text":"` + draft.Text + `"}}`}
		}
		return release.Ruling{Advice: advice}
	}
}

// guarded makes a run one of the profile "diagnosis", whose answers leave through the exit.
func guarded(out agent.Exit, changes ...func(*agent.Profile)) func(*setting) {
	return func(s *setting) {
		profile := agent.Profile{Name: "diagnosis", System: "You diagnose.", Tools: []string{"probe"}, Exit: out}
		for _, change := range changes {
			change(&profile)
		}
		s.request.Profile = "diagnosis"
		s.tools.answers["probe"] = says("probed")
		s.tools.kept = map[string]string{"probe": "diagnosis"}
		s.tools.safe = map[string]bool{"probe": true}
		s.agent.Profiles = map[string]agent.Profile{"diagnosis": profile}
	}
}

// told are the parts of events that readers see.
func told(events []run.Event) []string {
	var out []string
	for _, e := range events {
		line := strings.TrimSpace(fmt.Sprintf("%s %s | %s", e.Kind, e.ToolCallID, e.Content))
		if e.Kind == run.AnswerReview {
			line = fmt.Sprintf("%s %s", e.Kind, e.Metadata)
		}
		out = append(out, line)
	}
	return out
}

func TestADraftThatIsReleasedIsTheAnswer(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "probe", `{}`)), model.Say("good")}, guarded(exit{1, lets("")}))
	w.drive(t)
	want := []string{
		"session_start  | What is alpha?", "think  | Using probe tool", "tool_call c1 | Calling probe", "step_end  |",
		"tool_result c1 | probed", "step_end  |", `answer_review {"round":1,"stage":"verifying"}`,
		`session_end  | {"content_type":"ANSWER","payload":{"text":"good"}}`,
	}
	if diff := cmp.Diff(want, told(w.events(t))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if _, fields := w.ending(t); fields["stop_reason"] != "stop" {
		t.Errorf("end %v", fields)
	}
	if r := w.run(t); r.Status != run.Completed || r.Outcome.Answer != `{"content_type":"ANSWER","payload":{"text":"good"}}` {
		t.Errorf("run %s, %q", r.Status, r.Outcome.Answer)
	}
}

func TestADraftIsWrittenAgainAsOftenAsTheExitAllows(t *testing.T) {
	verify, repair := `answer_review {"round":%d,"stage":"verifying"}`, `answer_review {"round":%d,"stage":"repairing"}`
	say := func(form string, round int) string { return fmt.Sprintf(form, round) }
	good, none := `session_end  | {"content_type":"ANSWER","payload":{"text":"good"}}`, "session_end  | "+fallback
	for name, test := range map[string]struct {
		repairs int
		drafts  []string
		want    []string
		reason  string
	}{
		"never":        {0, []string{"bad"}, []string{say(verify, 1), say(repair, 1), none}, "fallback"},
		"once":         {1, []string{"bad", "worse"}, []string{say(verify, 1), say(repair, 1), "step_end  |", say(verify, 2), none}, "fallback"},
		"once is good": {1, []string{"bad", "good"}, []string{say(verify, 1), say(repair, 1), "step_end  |", say(verify, 2), good}, "stop"},
		"twice": {
			2,
			[]string{"bad", "worse", "worst"},
			[]string{say(verify, 1), say(repair, 1), "step_end  |", say(verify, 2), say(repair, 2), "step_end  |", say(verify, 3), none},
			"fallback",
		},
		"empty": {1, []string{"", " "}, []string{say(verify, 1), say(repair, 1), "step_end  |", say(verify, 2), none}, "fallback"},
	} {
		t.Run(name, func(t *testing.T) {
			var turns []model.Turn
			for _, draft := range test.drafts {
				turns = append(turns, model.Say(draft))
			}
			w := newWorld(t, turns, guarded(exit{test.repairs, lets("be good")}))
			w.drive(t)
			if diff := cmp.Diff(test.want, told(w.events(t))[2:]); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if _, fields := w.ending(t); fields["stop_reason"] != test.reason {
				t.Errorf("end %v", fields)
			}
		})
	}
}

func TestTheModelAloneIsToldWhatIsWrongWithADraft(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "probe", `{}`)), model.Say("bad draft"), model.Say("good")},
		guarded(exit{1, lets("cite more")}))
	w.drive(t)
	asked := w.model.Requests()
	if len(asked) != 3 || len(asked[1].Tools) != 1 || len(asked[2].Tools) != 0 {
		t.Fatalf("the model was asked %+v", asked)
	}
	want := []run.Message{
		{Role: run.System, Content: "You diagnose."},
		{Role: run.System, Content: "Cite."},
		{Role: run.User, Content: "What is alpha?"},
		{Role: run.Assistant, ToolCalls: []run.ToolCall{wish("c1", "probe", `{}`)}},
		{Role: run.ToolRole, ToolCallID: "c1", Content: "probed"},
		{Role: run.Assistant, Content: "bad draft"},
		{Role: run.User, Content: "cite more"},
	}
	if diff := cmp.Diff(want, asked[2].Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestACallInPlaceOfADraftIsNeverMade(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("bad"), model.Ask(wish("c1", "probe", `{}`)), model.Say("good")}, guarded(exit{2, lets("")}))
	w.drive(t)
	for _, message := range w.model.Requests()[2].Messages {
		if len(message.ToolCalls) > 0 || message.Content == "" && message.Role == run.Assistant {
			t.Errorf("the model hears %+v", message)
		}
	}
	if len(w.tools.ran()) != 0 || len(only(w.events(t), run.ToolCalled)) != 0 {
		t.Errorf("ran %v", w.tools.ran())
	}
}

func TestTheExitSeesTheQuestionAndEveryResultWhole(t *testing.T) {
	long := strings.Repeat("x", 5000)
	var seen []release.Draft
	out := exit{1, func(_ context.Context, draft release.Draft) release.Ruling {
		seen = append(seen, draft)
		return release.Ruling{}
	}}
	w := newWorld(t, []model.Turn{
		model.Ask(wish("c1", "probe", `{}`), wish("c2", "look", `{}`)), model.Say("one"), model.Say("two"),
	}, guarded(out), func(s *setting) {
		s.tools.answers["probe"] = says(long)
		s.agent.MaxResultBytes = 100
	})
	w.drive(t)
	if len(seen) != 2 || seen[0].Text != "one" || seen[1].Text != "two" || seen[0].Round != 1 || seen[1].Round != 2 {
		t.Fatalf("drafts %+v", seen)
	}
	for _, draft := range seen {
		if draft.Question != "What is alpha?" || draft.Run.Ref != w.ref || len(draft.Results) != 2 ||
			draft.Results[0].Content != long || draft.Results[0].Time.IsZero() || draft.Results[1].ToolCallID != "c2" {
			t.Errorf("draft %+v", draft)
		}
	}
}

func TestEveryRejectionLooksTheSameFromOutside(t *testing.T) {
	public := func(advice, draft string) []string {
		w := newWorld(t, []model.Turn{model.Say(draft), model.Say(draft)}, guarded(exit{1, lets(advice)}))
		w.drive(t)
		return told(w.events(t))
	}
	first := public("no number without evidence", "bad: 17")
	for _, other := range [][]string{public("", ""), public("no such claim", "worse"), public(strings.Repeat("x", 9999), "{}")} {
		if diff := cmp.Diff(first, other); diff != "" {
			t.Errorf("events differ:\n%s", diff)
		}
	}
}

func TestNothingOfAnUnreleasedDraftStandsInAPublicEvent(t *testing.T) {
	beside := model.Ask(wish("c1", "probe", `{}`))
	beside.Reply.Text = "canary-1 is my first thought."
	again := model.Ask(wish("c9", "probe", `{}`))
	again.Reply.Text, again.Reply.Reasoning = "canary-3 once more.", "canary-4"
	for name, request := range map[string]func(*run.Request){
		"whole":    func(*run.Request) {},
		"in parts": func(r *run.Request) { r.StreamDeltas = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []model.Turn{beside, model.Say("canary-2. It is so. Believe me."), again},
				guarded(exit{1, lets("canary-5")}), func(s *setting) { request(&s.request) })
			w.drive(t)
			for _, event := range w.events(t) {
				event.Memo = nil // private
				raw, err := json.Marshal(event)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(raw), "canary") || event.Kind == run.AnswerDelta {
					t.Errorf("%s holds %s", event.Kind, raw)
				}
			}
			if r := w.run(t); r.Outcome.Answer != fallback || len(only(w.events(t), run.ToolCalled)) != 1 {
				t.Errorf("answer %q", r.Outcome.Answer)
			}
		})
	}
}

func TestAReleasedAnswerIsNeverSentInParts(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("good. And long. Very.")}, guarded(exit{1, lets("")}), func(s *setting) {
		s.request.StreamDeltas = true
	})
	w.drive(t)
	if parts := only(w.events(t), run.AnswerDelta); len(parts) != 0 {
		t.Errorf("parts %v", lines(parts))
	}
}

func TestAReleaseWithoutTextIsNone(t *testing.T) {
	out := exit{0, func(context.Context, release.Draft) release.Ruling { return release.Ruling{Released: true} }}
	w := newWorld(t, []model.Turn{model.Say("good")}, guarded(out))
	w.drive(t)
	if last, _ := w.ending(t); last.Content != fallback {
		t.Errorf("answer %q", last.Content)
	}
}

func TestARunWithAnExitThatUsedUpItsStepsHasNoAnswer(t *testing.T) {
	for name, change := range map[string]func(*agent.Profile){
		"steps": func(p *agent.Profile) { p.MaxIterations = 1 },
		"calls": func(p *agent.Profile) { p.MaxToolCalls = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []model.Turn{
				model.Ask(wish("c1", "probe", `{}`)), model.Ask(wish("c2", "probe", `{}`)), model.Say("good"),
			}, guarded(exit{1, lets("")}, change))
			w.drive(t)
			last, fields := w.ending(t)
			if last.Kind != run.Errored || fields["code"] != "budget_exhausted" || w.run(t).Status != run.Failed {
				t.Errorf("%v %v", last, fields)
			}
			if calls, results := only(w.events(t), run.ToolCalled), only(w.events(t), run.ToolResult); len(calls) != len(results) {
				t.Errorf("%d calls, %d results", len(calls), len(results))
			}
			if got := w.tools.ran(); !slices.Equal(got, []string{"c1"}) {
				t.Errorf("ran %v", got)
			}
		})
	}
}

func TestAPanicInTheExitFailsTheRunAndSaysNothing(t *testing.T) {
	out := exit{1, func(context.Context, release.Draft) release.Ruling { panic("canary") }}
	w := newWorld(t, []model.Turn{model.Say("good")}, guarded(out))
	w.drive(t)
	last, fields := w.ending(t)
	if last.Kind != run.Errored || fields["code"] != "internal_error" || strings.Contains(fmt.Sprint(last), "canary") {
		t.Errorf("%v %v", last, fields)
	}
}

func TestAModelThatFailsDuringARepairFailsTheRun(t *testing.T) {
	broken := model.Turn{Err: &run.Error{Code: run.CodeModelUnavailable, Sentence: "s", Op: "complete"}}
	w := newWorld(t, []model.Turn{model.Say("bad"), broken}, guarded(exit{1, lets("")}))
	w.drive(t)
	if _, fields := w.ending(t); fields["code"] != "model_unavailable" {
		t.Errorf("end %v", fields)
	}
}

func TestARulingUnderACancelledRunIsVoid(t *testing.T) {
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(t.Context())
	out := exit{1, func(_ context.Context, draft release.Draft) release.Ruling {
		leave(gone)
		return lets("")(ctx, draft)
	}}
	w := newWorld(t, []model.Turn{model.Say("good")}, guarded(out))
	if _, err := w.agent.Drive(ctx, w.run(t)); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	if err := w.agent.Conclude(t.Context(), w.run(t), agent.Ending{Status: run.Cancelled, Reason: "CLIENT_DISCONNECT"}); err != nil {
		t.Fatal(err)
	}
	last, fields := w.ending(t)
	if last.Kind != run.Errored || fields["reason"] != "CLIENT_DISCONNECT" || w.run(t).Status != run.Cancelled {
		t.Errorf("%v %v", last, fields)
	}
}

func TestTheLogOfAGuardedRunHoldsNobodysWords(t *testing.T) {
	canary := errors.New("canary")
	vendor := model.Turn{Err: &run.Error{Code: run.CodeModelUnavailable, Sentence: "s", Op: "complete", Cause: canary}}
	panics := exit{1, func(context.Context, release.Draft) release.Ruling { panic("canary") }}
	for name, test := range map[string]struct {
		turn model.Turn
		out  agent.Exit
		also func(*setting)
	}{
		"a vendor's":  {turn: vendor, out: exit{1, lets("")}},
		"a client's":  {turn: model.Turn{Err: canary}, out: exit{1, lets("")}},
		"an exit's":   {turn: model.Say("canary"), out: panics},
		"a router's":  {also: routed(func(context.Context, agent.Ask, string) (string, error) { return "", canary })},
		"a panicking": {also: routed(func(context.Context, agent.Ask, string) (string, error) { panic("canary") })},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			w := newWorld(t, []model.Turn{test.turn}, guarded(test.out), func(s *setting) {
				s.agent.Log = slog.New(slog.NewTextHandler(&log, nil))
				if test.also != nil {
					test.also(s)
				}
			})
			w.drive(t)
			if !strings.Contains(log.String(), "run failed") || strings.Contains(strings.ReplaceAll(log.String(), t.Name(), ""), "canary") {
				t.Errorf("log %s", log.String())
			}
		})
	}
}

// speaker is a model that answers from what it is asked.
type speaker func(model.Request) model.Reply

func (s speaker) Complete(_ context.Context, request model.Request, _ func(string)) (model.Reply, error) {
	reply := s(request)
	reply.Usage = &run.Usage{PromptTokens: 2, CompletionTokens: 1, TotalTokens: 3}
	reply.FinishReason = model.FinishStop
	return reply, nil
}

// diagnoses first names a profile, then asks for a tool, then answers, and writes its answer again where it must.
func diagnoses(request model.Request) model.Reply {
	if request.Messages[0].Content == "Which?" {
		return model.Reply{Text: "diagnosis"}
	}
	spoken := slices.DeleteFunc(slices.Clone(request.Messages), func(m run.Message) bool { return m.Role != run.Assistant })
	switch len(spoken) {
	case 0:
		return model.Reply{ToolCalls: []run.ToolCall{wish("c1", "probe", `{}`), wish("c2", "look", `{}`)}}
	case 1:
		return model.Reply{Text: "bad"}
	}
	return model.Reply{Text: "bad again"}
}

func TestAResumedGuardedRunComesToTheSameEndWhereverItWasCut(t *testing.T) {
	crash := errors.New("crash")
	settings := []func(*setting){guarded(exit{1, lets("be good")}), routed(asksModel), func(s *setting) {
		s.speaking = func(model.Client) model.Client { return speaker(diagnoses) }
	}}
	ended := func(w *world) (list []string, outcome run.Outcome) {
		for _, event := range w.events(t) {
			fields := map[string]any{}
			if len(event.Metadata) > 0 {
				fields = metadata(t, event)
				delete(fields, "timing")
			}
			list = append(list, fmt.Sprint(event.Kind, event.ToolCallID, event.Content, fields))
		}
		return list, w.run(t).Outcome
	}
	batches := 0
	whole := newWorld(t, nil, settings...)
	whole.committing = func(ledger.Batch) { batches++ }
	whole.drive(t)
	events, outcome := ended(whole)
	if batches < 8 || outcome.Answer != fallback {
		t.Fatalf("%d batches, %+v, %v", batches, outcome, events)
	}
	for cut := range batches {
		w := newWorld(t, nil, settings...)
		done := 0
		w.failing = func(ledger.Batch) error {
			if done++; done == cut+1 {
				return crash
			}
			return nil
		}
		if _, err := w.agent.Drive(t.Context(), w.run(t)); !errors.Is(err, crash) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		w.drive(t)
		again, result := ended(w)
		if diff := cmp.Diff(events, again); diff != "" {
			t.Errorf("cut at %d: events (-want +got):\n%s", cut, diff)
		}
		if diff := cmp.Diff(outcome, result); diff != "" {
			t.Errorf("cut at %d: outcome (-want +got):\n%s", cut, diff)
		}
	}
}
