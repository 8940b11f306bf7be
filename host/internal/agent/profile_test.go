package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/executor"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// router is a router that is a function.
type router func(ctx context.Context, ask agent.Ask, question string) (string, error)

func (r router) Route(ctx context.Context, ask agent.Ask, question string) (string, error) {
	return r(ctx, ask, question)
}

func asksModel(ctx context.Context, ask agent.Ask, question string) (string, error) {
	return ask(ctx, "Which?", question)
}

// routed makes a run one of the profile "chat", whose router it is given.
func routed(route router) func(*setting) {
	return func(s *setting) {
		if s.agent.Profiles == nil {
			s.agent.Profiles = map[string]agent.Profile{}
		}
		s.agent.Profiles["chat"] = agent.Profile{Name: "chat", Router: route}
		s.request.Profile = "chat"
	}
}

func TestARouterNamesTheProfileBeforeTheFirstEvent(t *testing.T) {
	w := newWorld(t, []model.Turn{counted("diagnosis"), counted("good")}, guarded(exit{1, lets("")}), routed(asksModel))
	w.drive(t)
	events := w.events(t)
	start := metadata(t, events[0])
	if start["profile"] != "diagnosis" || !cmp.Equal(start["visible_tools"], []any{"probe"}) {
		t.Errorf("start %v", start)
	}
	first := w.model.Requests()[0]
	want := []run.Message{{Role: run.System, Content: "Which?"}, {Role: run.User, Content: "What is alpha?"}}
	if diff := cmp.Diff(want, first.Messages); diff != "" || len(first.Tools) != 0 {
		t.Errorf("the model was asked (-want +got):\n%s", diff)
	}
	if total := w.run(t).Outcome.Usage; total == nil || total.TotalTokens != 6 {
		t.Errorf("usage %+v", total)
	}
}

func TestARunThatCannotBeRoutedFails(t *testing.T) {
	saturated := &run.Error{Code: run.CodeModelSaturated, Sentence: "Later.", Op: "ask"}
	for name, test := range map[string]struct {
		route router
		code  string
	}{
		"error":           {func(context.Context, agent.Ask, string) (string, error) { return "", errors.New("canary") }, "routing_failed"},
		"unknown profile": {func(context.Context, agent.Ask, string) (string, error) { return "canary", nil }, "routing_failed"},
		"no profile":      {func(context.Context, agent.Ask, string) (string, error) { return "", nil }, "routing_failed"},
		"panic":           {func(context.Context, agent.Ask, string) (string, error) { panic("canary") }, "routing_failed"},
		"model broken":    {asksModel, "routing_failed"},
		"no room":         {func(context.Context, agent.Ask, string) (string, error) { return "", saturated }, "model_saturated"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []model.Turn{{Err: errors.New("canary")}}, routed(test.route))
			if outcome := w.drive(t); outcome != agent.Finished {
				t.Fatalf("outcome %v", outcome)
			}
			events := w.events(t)
			if len(events) != 2 || events[0].Kind != run.SessionStart || metadata(t, events[0])["profile"] != "chat" {
				t.Errorf("events %v", lines(events))
			}
			last, fields := w.ending(t)
			if last.Kind != run.Errored || fields["code"] != test.code || strings.Contains(fmt.Sprint(events), "canary") {
				t.Errorf("%v %v", last, fields)
			}
			if r := w.run(t); r.Status != run.Failed || r.Outcome.ErrorCode != test.code {
				t.Errorf("run %s %+v", r.Status, r.Outcome)
			}
		})
	}
}

func TestAnUnknownProfileFailsTheRun(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("never")}, func(s *setting) { s.request.Profile = "nobody's" })
	w.drive(t)
	if _, fields := w.ending(t); fields["code"] != "internal_error" || len(w.model.Requests()) != 0 {
		t.Errorf("end %v", fields)
	}
}

func TestAResumedRunKeepsTheProfileItWasRoutedTo(t *testing.T) {
	crash := errors.New("crash")
	w := newWorld(t, []model.Turn{model.Say("diagnosis"), model.Say("lost"), model.Say("good")},
		guarded(exit{1, lets("")}), routed(asksModel))
	w.failing = func(batch ledger.Batch) error {
		if batch.Events[0].Kind != run.SessionStart {
			return crash
		}
		return nil
	}
	if _, err := w.agent.Drive(t.Context(), w.run(t)); !errors.Is(err, crash) {
		t.Fatalf("got %v", err)
	}
	w.failing = nil
	s := setting{tools: w.tools}
	guarded(exit{1, lets("")})(&s)
	routed(func(context.Context, agent.Ask, string) (string, error) { return "", errors.New("asked twice") })(&s)
	w.employ(t, s)
	w.drive(t)
	if last, fields := w.ending(t); last.Kind != run.SessionEnd || fields["stop_reason"] != "stop" {
		t.Errorf("%v %v", last, fields)
	}
}

func TestAProfileHasItsOwnToolsWhateverTheRequestSays(t *testing.T) {
	for name, test := range map[string]struct {
		policy  run.ToolPolicy
		visible []any
	}{
		"nothing":            {run.ToolPolicy{}, []any{"probe"}},
		"another profile":    {run.ToolPolicy{Profile: "admin"}, []any{"probe"}},
		"more":               {run.ToolPolicy{Mode: run.Allowlist, Allowed: []string{"look", "probe"}}, []any{"probe"}},
		"others":             {run.ToolPolicy{Mode: run.Allowlist, Allowed: []string{"look"}}, []any{}},
		"none":               {run.ToolPolicy{Mode: run.NoTools}, []any{}},
		"a mode of the moon": {run.ToolPolicy{Mode: "all"}, []any{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", `{}`)), model.Say("good")}, guarded(exit{1, lets("")}), func(s *setting) {
				s.request.ToolPolicy = test.policy
			})
			w.drive(t)
			if got := metadata(t, w.events(t)[0])["visible_tools"]; !cmp.Equal(got, any(test.visible)) {
				t.Errorf("visible %v", got)
			}
			if len(w.tools.ran()) != 0 {
				t.Errorf("ran %v", w.tools.ran())
			}
		})
	}
}

func TestAPlainRunCannotNameItselfIntoAProfile(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "probe", `{}`)), model.Say("Done.")}, guarded(exit{1, lets("")}), func(s *setting) {
		s.request.Profile = ""
		s.request.ToolPolicy = run.ToolPolicy{Profile: "diagnosis", Mode: run.Allowlist, Allowed: []string{"probe"}}
	})
	w.drive(t)
	result := only(w.events(t), run.ToolResult)[0]
	if metadata(t, result)["denial_code"] != "tool_policy_hidden" || len(w.tools.ran()) != 0 {
		t.Errorf("result %s %s", result.Content, result.Metadata)
	}
}

func TestTheNameOfAReservedToolDoesNotLeaveInAPlainAnswer(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Ask probe_it. Bye."), model.Say("Bye.")}, func(s *setting) {
		s.tools.answers["probe_it"] = says("")
		s.tools.kept = map[string]string{"probe_it": "diagnosis"}
	})
	w.drive(t)
	if last, _ := w.ending(t); last.Content != "Bye." {
		t.Errorf("answer %q", last.Content)
	}
}

func TestACallThatNeedsAPersonIsDeniedInARunOfAProfile(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "probe", `{}`)), model.Say("good")}, guarded(exit{1, lets("")}), func(s *setting) {
		s.rules = map[string]any{"probe": "require_approval"}
	})
	if outcome := w.drive(t); outcome != agent.Finished {
		t.Fatalf("outcome %v", outcome)
	}
	result := only(w.events(t), run.ToolResult)[0]
	if metadata(t, result)["denial_code"] != "nobody_to_ask" || len(w.approvals(t)) != 0 || len(w.tools.ran()) != 0 {
		t.Errorf("result %s %s", result.Content, result.Metadata)
	}
}

func TestAProfileGetsNoSkills(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("good")}, guarded(exit{1, lets("")}), func(s *setting) { s.agent.Skills = shelf{} })
	w.drive(t)
	if words := w.model.Requests()[0].Messages[0].Content; words != "You diagnose." {
		t.Errorf("system words %q", words)
	}
	if got := metadata(t, w.events(t)[0])["skills"]; !cmp.Equal(got, any([]any{})) {
		t.Errorf("skills %v", got)
	}
}

type shelf struct{}

func (shelf) Choose(string, *[]string) ([]run.Skill, []string) {
	return []run.Skill{{Name: "s", Body: "Do as I say."}}, nil
}

// full are slots without room.
type full struct{}

func (full) Do(context.Context, func(context.Context) error) error {
	return fmt.Errorf("full: %w", executor.ErrSaturated)
}

func TestARunThatFindsNoRoomFails(t *testing.T) {
	for code, change := range map[string]func(*agent.Profile){
		"model_saturated": func(p *agent.Profile) { p.Models = full{} },
		"tool_saturated":  func(p *agent.Profile) { p.ToolSlots = full{} },
	} {
		t.Run(code, func(t *testing.T) {
			w := newWorld(t, []model.Turn{model.Ask(wish("c1", "probe", `{}`), wish("c2", "probe", `{}`)), model.Say("good")},
				guarded(exit{1, lets("")}, change))
			w.drive(t)
			if _, fields := w.ending(t); fields["code"] != code || w.run(t).Status != run.Failed {
				t.Errorf("end %v", fields)
			}
			if calls, results := only(w.events(t), run.ToolCalled), only(w.events(t), run.ToolResult); len(calls) != len(results) {
				t.Errorf("%d calls, %d results", len(calls), len(results))
			}
			if len(w.tools.ran()) != 0 {
				t.Errorf("ran %v", w.tools.ran())
			}
		})
	}
}

func TestAModelThatIsTooSlowForItsProfileFailsTheRun(t *testing.T) {
	slow := model.Turn{Wait: func(ctx context.Context) error {
		<-ctx.Done()
		return errors.New("aborted")
	}}
	w := newWorld(t, []model.Turn{slow}, guarded(exit{1, lets("")}, func(p *agent.Profile) { p.ModelTimeout = 1 }))
	w.drive(t)
	if _, fields := w.ending(t); fields["code"] != "model_timeout" {
		t.Errorf("end %v", fields)
	}
}

func TestAToolThatIsTooSlowForItsProfileIsAnErrorToTheModel(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "probe", `{}`)), model.Say("good")},
		guarded(exit{1, lets("")}, func(p *agent.Profile) { p.ToolTimeout = 1 }), func(s *setting) {
			s.tools.answers["probe"] = func(ctx context.Context, _ sdk.Call) (sdk.Result, error) {
				if until, bounded := ctx.Deadline(); !bounded || time.Until(until) > time.Second {
					return sdk.Result{}, errors.New("the tool has all the time in the world")
				}
				return sdk.Result{}, untilTheEnd(ctx)
			}
		})
	w.drive(t)
	if got := only(w.events(t), run.ToolResult)[0].Content; got != "[ERROR] Tool 'probe' did not answer in time" {
		t.Errorf("result %q", got)
	}
}

func TestADeafModelOrToolDoesNotHoldACancelledRun(t *testing.T) {
	gone := errors.New("gone")
	for _, deaf := range []string{"model", "tool"} {
		t.Run(deaf, func(t *testing.T) {
			slots, err := executor.New(executor.Config{Name: "slots", Size: 1, Queue: 1})
			if err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithCancelCause(t.Context())
			silence, heard := make(chan struct{}), make(chan struct{})
			listen := func(context.Context) error {
				leave(gone)
				<-silence
				close(heard)
				return nil
			}
			ask := model.Ask(wish("c1", "probe", `{}`))
			if deaf == "model" {
				ask.Wait = listen
			}
			w := newWorld(t, []model.Turn{ask, model.Say("good")}, guarded(exit{1, lets("")}, func(p *agent.Profile) {
				p.Models, p.ToolSlots = slots, slots
			}), func(s *setting) {
				s.agent.MaxProgressBytes = 100
				s.agent.Log = slog.New(slog.DiscardHandler)
				s.tools.answers["probe"] = func(ctx context.Context, _ sdk.Call) (sdk.Result, error) {
					sdk.ReportProgress(ctx, sdk.Progress{Text: "late"})
					return sdk.Result{Content: "late"}, listen(ctx)
				}
			})
			if _, err := w.agent.Drive(ctx, w.run(t)); !errors.Is(err, gone) {
				t.Errorf("got %v", err)
			}
			if err := w.agent.Conclude(t.Context(), w.run(t), agent.Ending{Status: run.Cancelled, Reason: "CLIENT_DISCONNECT"}); err != nil {
				t.Fatal(err)
			}
			before := len(w.events(t))
			close(silence)
			<-heard
			drain, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if err := slots.Close(drain); err != nil {
				t.Error(err)
			}
			if after := len(w.events(t)); after != before || w.run(t).Cancel != "" && w.run(t).Status != run.Cancelled {
				t.Errorf("%d events became %d", before, after)
			}
		})
	}
}

func TestAPanicOfATaskFailsItsRunAlone(t *testing.T) {
	slots, err := executor.New(executor.Config{Name: "slots", Size: 1, Queue: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := slots.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "probe", `{}`))}, guarded(exit{1, lets("")}, func(p *agent.Profile) {
		p.ToolSlots = slots
	}), func(s *setting) {
		s.tools.answers["probe"] = func(context.Context, sdk.Call) (sdk.Result, error) { panic("canary") }
	})
	w.drive(t)
	_, fields := w.ending(t)
	if fields["code"] != "internal_error" || strings.Contains(fmt.Sprint(w.events(t)), "canary") {
		t.Errorf("end %v", fields)
	}
}
