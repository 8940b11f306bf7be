package agent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

// counted is a turn that answers with text and says what it cost.
func counted(text string) model.Turn {
	turn := model.Say(text)
	turn.Reply.Usage = &run.Usage{PromptTokens: 2, CompletionTokens: 1, TotalTokens: 3}
	return turn
}

// ending is the last event and its metadata.
func (w *world) ending(t *testing.T) (run.Event, map[string]any) {
	t.Helper()
	events := w.events(t)
	last := events[len(events)-1]
	return last, metadata(t, last)
}

func TestAnAnswerThatNamesTheMachineryIsRewrittenOnce(t *testing.T) {
	w := newWorld(t, []model.Turn{counted("FastReAct says: Alpha is one."), counted("Alpha is one.")})
	w.drive(t)
	last, fields := w.ending(t)
	want := map[string]any{"findings": 1.0, "kinds": []any{"word"}, "rewritten": true, "dropped": 0.0}
	if diff := cmp.Diff(want, fields["answer_check"]); diff != "" || last.Content != "Alpha is one." {
		t.Errorf("%q (-want +got):\n%s", last.Content, diff)
	}
	total := map[string]any{"prompt_tokens": 4.0, "completion_tokens": 2.0, "total_tokens": 6.0}
	if diff := cmp.Diff(total, fields["llm_usage_total"]); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	steps := only(w.events(t), run.StepEnd)
	if len(steps) != 2 || strings.Contains(string(steps[0].Metadata), "Alpha") {
		t.Errorf("steps %v", lines(steps))
	}
	second := w.model.Requests()[1]
	if len(second.Tools) != 0 || len(second.Messages) != 2 || second.Messages[1].Content != "FastReAct says: Alpha is one." {
		t.Errorf("the model was asked %+v", second)
	}
}

func TestWhatTheModelKeepsNamingIsDropped(t *testing.T) {
	broken := model.Turn{Err: &run.Error{Code: run.CodeModelUnavailable, Sentence: "s", Op: "complete"}}
	for name, test := range map[string]struct {
		second    model.Turn
		answer    string
		rewritten bool
		dropped   float64
	}{
		"again":          {model.Say("The MCP server knows. Alpha is two."), "Alpha is two.", true, 1},
		"nothing left":   {model.Say("MCP."), "I have no answer to that.", true, 1},
		"a call instead": {model.Ask(wish("c9", "look", "{}")), "Alpha is one.", false, 1},
		"cut":            {model.Turn{Reply: model.Reply{Text: "Al", FinishReason: model.FinishLength}}, "Alpha is one.", false, 1},
		"empty":          {model.Say(" "), "Alpha is one.", false, 1},
		"broken":         {broken, "Alpha is one.", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []model.Turn{model.Say("Alpha is one. I asked FastReAct."), test.second})
			w.drive(t)
			last, fields := w.ending(t)
			check, _ := fields["answer_check"].(map[string]any)
			if last.Content != test.answer || check["rewritten"] != test.rewritten || check["dropped"] != test.dropped {
				t.Errorf("%q %v", last.Content, check)
			}
			if got := len(w.tools.ran()); got != 0 {
				t.Errorf("%d tools ran", got)
			}
		})
	}
}

func TestWhatTheQuestionOrAToolSaidMayBeAnswered(t *testing.T) {
	for name, test := range map[string]struct {
		question, result, system string
		clean                    bool
	}{
		"the question":     {question: "What is MCP?", clean: true},
		"a tool":           {question: "What?", result: "MCP is a protocol", clean: true},
		"nobody":           {question: "What?", result: "It is a protocol"},
		"a system message": {question: "What?", system: "Use PSKA MCP tools and cite evidence."},
	} {
		t.Run(name, func(t *testing.T) {
			turns := []model.Turn{model.Ask(wish("c1", "look", `{}`)), model.Say("MCP is good."), model.Say("It is good.")}
			w := newWorld(t, turns, func(s *setting) {
				s.request.Messages = []run.Message{
					{Role: run.System, Content: test.system}, {Role: run.User, Content: test.question},
				}
				s.tools.answers["look"] = says(test.result)
			})
			w.drive(t)
			if last, _ := w.ending(t); (last.Content == "MCP is good.") != test.clean {
				t.Errorf("answer %q", last.Content)
			}
		})
	}
}

func TestTheRuntimesWordsAllowNothing(t *testing.T) {
	w := newWorld(t, []model.Turn{
		model.Ask(wish("c1", "look_up", `{}`)), model.Say("[ERROR] Tool 'look_up' not found"), model.Say("I could not."),
	})
	w.drive(t)
	if last, _ := w.ending(t); last.Content != "I could not." {
		t.Errorf("answer %q", last.Content)
	}
}

func TestTheModelsOwnSummaryAllowsNothing(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Past: look_deep of FastReAct was used."), model.Say("FastReAct says one."), model.Say("It is one.")},
		bounded(10_000), func(s *setting) {
			long := strings.Repeat("x", 5000)
			spoke(s, run.Message{Role: run.User, Content: long}, run.Message{Role: run.Assistant, Content: long})
		})
	w.drive(t)
	if told := only(w.events(t), run.Compaction); len(told) != 1 || metadata(t, told[0])["method"] != "summary" {
		t.Fatalf("no summary: %v", lines(w.events(t)))
	}
	if last, _ := w.ending(t); last.Content != "It is one." {
		t.Errorf("answer %q", last.Content)
	}
}

func TestTheWayToReadOnAllowsNothing(t *testing.T) {
	for name, turns := range map[string][]model.Turn{
		"below what was cut": {looks("c1")},
		"in its refusal":     {model.Ask(wish("c1", "read_result", `{"handle":"h"}`))},
	} {
		t.Run(name, func(t *testing.T) {
			turns = append(turns, model.Say("I used read_result."), model.Say("I read it."))
			w := newWorld(t, turns, letters(4000), func(s *setting) {
				s.agent.MaxResultBytes = 1000
				s.tools.answers["read_result"] = says("read_result: this conversation has no result with the handle \"h\"")
			})
			w.drive(t)
			if last, _ := w.ending(t); last.Content != "I read it." {
				t.Errorf("answer %q", last.Content)
			}
		})
	}
}

func TestANameOfAToolThatTheRunDoesNotSeeMustNotLeaveEither(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Ask look_deep. Bye."), model.Say("Bye.")}, func(s *setting) {
		s.request.ToolPolicy.Mode = run.NoTools
		s.tools.answers["look_deep"] = says("")
	})
	w.drive(t)
	if last, fields := w.ending(t); last.Content != "Bye." || fields["answer_check"] == nil {
		t.Errorf("answer %q", last.Content)
	}
}

func TestAnAnswerThatIsNotCheckedLeavesAsItIs(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("FastReAct knows.")}, func(s *setting) { s.agent.UncheckedAnswers = true })
	w.drive(t)
	if last, fields := w.ending(t); last.Content != "FastReAct knows." || fields["answer_check"] != nil {
		t.Errorf("answer %q, %v", last.Content, fields)
	}
}

func TestAnAnswerMayBeginWithABracket(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("[1] Alpha.")})
	w.drive(t)
	if last, _ := w.ending(t); last.Content != "[1] Alpha." {
		t.Errorf("answer %q", last.Content)
	}
}

func TestAResumedRunPutsTheSameDraftRight(t *testing.T) {
	crash := errors.New("crash")
	w := newWorld(t, []model.Turn{
		counted("MCP says one."), {Err: crash}, counted("It is one."),
	})
	w.failing = func(batch ledger.Batch) error {
		if batch.Finish != nil {
			return crash
		}
		return nil
	}
	if _, err := w.agent.Drive(t.Context(), w.run(t)); !errors.Is(err, crash) {
		t.Fatalf("got %v", err)
	}
	w.failing = nil
	if outcome := w.drive(t); outcome != agent.Finished {
		t.Fatalf("outcome %v", outcome)
	}
	last, fields := w.ending(t)
	if last.Content != "It is one." || len(only(w.events(t), run.StepEnd)) != 2 {
		t.Errorf("%q, %v", last.Content, lines(w.events(t)))
	}
	total := map[string]any{"prompt_tokens": 4.0, "completion_tokens": 2.0, "total_tokens": 6.0}
	if diff := cmp.Diff(total, fields["llm_usage_total"]); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	for i, request := range w.model.Requests()[1:] {
		if len(request.Messages) != 2 || request.Messages[1].Content != "MCP says one." {
			t.Errorf("request %d: %+v", i+1, request.Messages)
		}
	}
}

func TestARewriteThatTakesTooLongIsNotWaitedFor(t *testing.T) {
	slow := model.Say("never")
	slow.Wait = untilTheEnd
	w := newWorld(t, []model.Turn{model.Say("MCP. Alpha."), slow}, func(s *setting) { s.agent.RewriteTimeout = 1 })
	w.drive(t)
	if last, _ := w.ending(t); last.Content != "Alpha." {
		t.Errorf("answer %q", last.Content)
	}
}

func TestAnAnswerIsReleasedSentenceBySentenceWhereAsked(t *testing.T) {
	for name, test := range map[string]struct {
		turns []model.Turn
		want  []string
	}{
		"plain":     {[]model.Turn{model.Say("One. Two!\n\nThree")}, []string{"One. ", "Two!\n\n", "Three"}},
		"rewritten": {[]model.Turn{model.Say("MCP. One."), model.Say("One. MCP. Two.")}, []string{"One. ", "Two."}},
		"empty":     {[]model.Turn{model.Say("")}, []string{"I have no answer to that."}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, test.turns, func(s *setting) { s.request.StreamDeltas = true })
			w.drive(t)
			var parts []string
			for _, event := range only(w.events(t), run.AnswerDelta) {
				parts = append(parts, event.Content)
			}
			last, fields := w.ending(t)
			if diff := cmp.Diff(test.want, parts); diff != "" || strings.Join(parts, "") != last.Content {
				t.Errorf("parts of %q (-want +got):\n%s", last.Content, diff)
			}
			if fields["answer_deltas"] != float64(len(parts)) {
				t.Errorf("metadata %v", fields)
			}
		})
	}
}

func TestAThoughtBesideCallsIsNoPartOfTheAnswer(t *testing.T) {
	ask := model.Ask(wish("c1", "look", `{}`))
	ask.Reply.Text = "Let me look. It may take a while."
	w := newWorld(t, []model.Turn{ask, model.Say("Done.")}, func(s *setting) { s.request.StreamDeltas = true })
	w.drive(t)
	if got := lines(only(w.events(t), run.AnswerDelta)); !cmp.Equal(got, []string{"answer_delta   | Done."}) {
		t.Errorf("parts %v", got)
	}
}

func TestAnAnswerWithASecretStaysInOnePart(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("It is. A b c.")}, func(s *setting) {
		s.request.StreamDeltas = true
		s.agent.Secret = func(text string) bool { return strings.Contains(text, "is. A") }
	})
	w.drive(t)
	if got := only(w.events(t), run.AnswerDelta); len(got) != 1 {
		t.Errorf("parts %v", lines(got))
	}
}

func TestALongAnswerIsReleasedInABoundedNumberOfParts(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say(strings.Repeat("One. ", 1000))}, func(s *setting) { s.request.StreamDeltas = true })
	w.drive(t)
	if got := len(only(w.events(t), run.AnswerDelta)); got < 32 || got > 64 {
		t.Errorf("%d parts", got)
	}
}
