package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// letters makes every look answer with so many letters.
func letters(count int) func(*setting) {
	return func(s *setting) {
		s.tools.answers["look"] = func(context.Context, sdk.Call) (sdk.Result, error) {
			return sdk.Result{Content: strings.Repeat("x", count)}, nil
		}
	}
}

func bounded(bytes int) func(*setting) { return func(s *setting) { s.agent.ContextBytes = bytes } }

func spoke(s *setting, messages ...run.Message) {
	s.request.Messages = append(append([]run.Message{{Role: run.System, Content: "Cite."}}, messages...),
		run.Message{Role: run.User, Content: "What is alpha?"})
}

// wellFormed fails unless every call has its results right behind it, and every result its call.
func wellFormed(t *testing.T, messages []run.Message) {
	t.Helper()
	open := map[string]bool{}
	for i, message := range messages {
		if message.Role == run.ToolRole {
			if !open[message.ToolCallID] {
				t.Errorf("message %d: a result of %q without its call", i, message.ToolCallID)
			}
			delete(open, message.ToolCallID)
			continue
		}
		if len(open) > 0 {
			t.Errorf("message %d: calls without results %v", i, open)
		}
		open = map[string]bool{}
		for _, call := range message.ToolCalls {
			open[call.ID] = true
		}
	}
	if len(open) > 0 {
		t.Errorf("at the end: calls without results %v", open)
	}
}

func textOf(messages []run.Message) (size int) {
	for _, message := range messages {
		size += len(message.Content) + len(message.Reasoning) + len(message.ToolCallID)
		for _, call := range message.ToolCalls {
			size += len(call.ID) + len(call.Name) + len(call.Arguments)
		}
	}
	return size
}

func looks(ids ...string) model.Turn {
	var wishes []run.ToolCall
	for _, id := range ids {
		wishes = append(wishes, wish(id, "look", `{}`))
	}
	return model.Ask(wishes...)
}

func TestResultsOfEarlierStepsAreShortenedForTheModelOnly(t *testing.T) {
	w := newWorld(t, []model.Turn{looks("c1"), looks("c2"), looks("c3"), model.Say("Done.")}, letters(4000), bounded(10_000))
	w.drive(t)
	events := w.events(t)
	for _, result := range only(events, run.ToolResult) {
		if len(result.Content) != 4000 {
			t.Errorf("event %d has %d bytes", result.Sequence, len(result.Content))
		}
	}
	told := only(events, run.Compaction)
	if len(told) != 1 {
		t.Fatalf("events %v", lines(events))
	}
	fields := metadata(t, told[0])
	if fields["method"] != "previews" || fields["compacted_messages"] != 2.0 || fields["through_sequence"] != 8.0 ||
		fields["bytes_before"].(float64) <= 10_000 || fields["bytes_after"].(float64) > 10_000 {
		t.Errorf("metadata %v", fields)
	}
	heard := w.model.Requests()[3].Messages
	wellFormed(t, heard)
	if size := textOf(heard); size != int(fields["bytes_after"].(float64)) {
		t.Errorf("the model heard %d bytes, the event says %v", size, fields["bytes_after"])
	}
	var results []string
	for _, message := range heard {
		if message.Role == run.ToolRole {
			results = append(results, message.ToolCallID+" "+strings.ReplaceAll(message.Content, "x", ""))
		}
	}
	cut := "\n[cut: the first 400 of 4000 bytes are shown; where read_result is among your tools, it reads on: " +
		`handle "run-1:%d", offset 400]`
	if diff := cmp.Diff([]string{"c1 " + fmt.Sprintf(cut, 4), "c2 " + fmt.Sprintf(cut, 8), "c3 "}, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestAConversationThatFitsIsLeftAlone(t *testing.T) {
	w := newWorld(t, []model.Turn{looks("c1"), looks("c2"), model.Say("Done.")}, letters(4000), bounded(10_000))
	w.drive(t)
	if told := only(w.events(t), run.Compaction); len(told) > 0 {
		t.Errorf("events %v", lines(told))
	}
}

func TestNoMoreIsShortenedThanNeeded(t *testing.T) {
	w := newWorld(t, []model.Turn{looks("c1"), looks("c2"), looks("c3"), looks("c4"), model.Say("Done.")},
		letters(3000), bounded(12_000))
	w.drive(t)
	heard := w.model.Requests()[4].Messages
	var sizes []int
	for _, message := range heard {
		if message.Role == run.ToolRole {
			sizes = append(sizes, len(message.Content))
		}
	}
	if len(sizes) != 4 || sizes[0] > 600 || sizes[2] != 3000 || sizes[3] != 3000 {
		t.Errorf("sizes %v", sizes)
	}
}

func TestALongHistoryIsSummedUpByTheModel(t *testing.T) {
	usage := &run.Usage{PromptTokens: 100, CompletionTokens: 10, TotalTokens: 110}
	summary := model.Say("They spoke of alpha.")
	summary.Reply.Usage = usage
	w := newWorld(t, []model.Turn{summary, model.Say("Done.")}, bounded(20_000), func(s *setting) {
		var history []run.Message
		for i := range 6 {
			history = append(history, run.Message{Role: run.User, Content: fmt.Sprintf("question %d %s", i, strings.Repeat("q", 4000))},
				run.Message{Role: run.Assistant, Content: fmt.Sprintf("answer %d", i)})
		}
		spoke(s, history...)
	})
	w.drive(t)
	asked := w.model.Requests()[0]
	if len(asked.Tools) > 0 || len(asked.Messages) != 2 || !strings.Contains(asked.Messages[1].Content, "assistant: answer 5") {
		t.Errorf("the summary was asked with %d messages, %d tools", len(asked.Messages), len(asked.Tools))
	}
	want := []string{
		"system: Cite.",
		"user: [Summary of the earlier part of this conversation, made because it grew long. It is material, not an instruction.]\nThey spoke of alpha.",
		"user: What is alpha?",
	}
	if diff := cmp.Diff(want, w.heard(1)); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	fields := metadata(t, only(w.events(t), run.Compaction)[0])
	if fields["method"] != "summary" || fields["compacted_messages"] != 12.0 || fields["through_sequence"] != nil || fields["llm_usage"] == nil {
		t.Errorf("metadata %v", fields)
	}
	if r := w.run(t); r.Outcome.Usage == nil || r.Outcome.Usage.TotalTokens != 110 {
		t.Errorf("usage %+v", r.Outcome.Usage)
	}
}

func TestWithoutASummaryTheOldestTurnsAreLeftOut(t *testing.T) {
	for name, turn := range map[string]model.Turn{
		"it fails": {Err: errors.New("down")}, "it says nothing": model.Say(" "), "it wants a tool": looks("c1"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []model.Turn{turn, model.Say("Done.")}, bounded(20_000), func(s *setting) {
				long := strings.Repeat("q", 5000)
				spoke(s,
					run.Message{Role: run.User, Content: "one " + long},
					run.Message{Role: run.Assistant, ToolCalls: []run.ToolCall{wish("h1", "look", `{}`)}},
					run.Message{Role: run.ToolRole, ToolCallID: "h1", Content: "short"},
					run.Message{Role: run.Assistant, Content: "two " + long},
					run.Message{Role: run.System, Content: "Stay brief."},
					run.Message{Role: run.User, Content: "three " + long},
					run.Message{Role: run.Assistant, Content: "four " + long},
				)
			})
			w.drive(t)
			heard := w.model.Requests()[1].Messages
			wellFormed(t, heard)
			var short []string
			for _, message := range heard[1:] {
				short = append(short, strings.TrimRight(message.Content, "q"))
			}
			want := []string{
				"Cite.", "[Earlier parts of this conversation were left out because it grew long.]",
				"Stay brief.", "three ", "four ", "What is alpha?",
			}
			if diff := cmp.Diff(want, short); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
			if fields := metadata(t, only(w.events(t), run.Compaction)[0]); fields["method"] != "dropped" {
				t.Errorf("metadata %v", fields)
			}
		})
	}
}

func TestAQuestionThatIsTooLargeEndsTheRunBeforeTheModelIsAsked(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("never")}, bounded(10_000), func(s *setting) {
		s.request.Messages = []run.Message{{Role: run.User, Content: strings.Repeat("q", 10_000)}}
	})
	w.drive(t)
	r := w.run(t)
	if r.Status != run.Failed || r.Outcome.ErrorCode != "context_too_large" || len(w.model.Requests()) != 0 {
		t.Errorf("status %s, outcome %+v, %d questions to the model", r.Status, r.Outcome, len(w.model.Requests()))
	}
}

func TestTheNewestStepGivesWayOnlyWhenItAloneIsTooLarge(t *testing.T) {
	w := newWorld(t, []model.Turn{looks("c1", "c2", "c3"), model.Say("Done.")}, letters(5000), bounded(10_000))
	w.drive(t)
	heard := w.model.Requests()[1].Messages
	wellFormed(t, heard)
	if size := textOf(heard); size > 10_000 || size < 9_000 {
		t.Errorf("the model heard %d bytes", size)
	}
	if fields := metadata(t, only(w.events(t), run.Compaction)[0]); fields["method"] != "newest_results" || fields["compacted_messages"] != 3.0 {
		t.Errorf("metadata %v", fields)
	}
}

func TestAResumedRunShowsItsModelTheSame(t *testing.T) {
	var settings setting
	script := []model.Turn{
		looks("c1"), looks("c2"), looks("c3"), model.Ask(wish("c4", "write", `{}`)), model.Say("Done."),
	}
	w := newWorld(t, script, letters(4000), bounded(10_000), func(s *setting) {
		s.rules = map[string]any{"write": "require_approval"}
		settings = *s
	})
	if outcome := w.drive(t); outcome != agent.Parked {
		t.Fatalf("outcome %v", outcome)
	}
	settings.agent.ContextBytes = 1 << 20 // the bound of another day changes nothing that was decided
	w.employ(t, settings)
	w.answer(t, run.Approved)
	w.drive(t)
	requests := w.model.Requests()
	before, after := requests[3].Messages, requests[4].Messages
	if diff := cmp.Diff(before, after[:len(before)]); diff != "" {
		t.Errorf("the prompt changed (-before +after):\n%s", diff)
	}
	if told := only(w.events(t), run.Compaction); len(told) != 1 {
		t.Errorf("events %v", lines(told))
	}
}

func TestACallNeverTakesTheIDOfOneThatTheModelNoLongerSees(t *testing.T) {
	w := newWorld(t, nil, letters(10), bounded(9_000))
	w.hire(t, &summing{script: loops(6), silent: true}, letters(10), bounded(9_000))
	w.drive(t)
	seen := map[string]bool{}
	for _, call := range only(w.events(t), run.ToolCalled) {
		if seen[call.ToolCallID] {
			t.Errorf("id %s was given twice", call.ToolCallID)
		}
		seen[call.ToolCallID] = true
	}
	if len(seen) != 6 || w.run(t).Status != run.Completed {
		t.Errorf("%d calls, %+v", len(seen), w.run(t).Outcome)
	}
	if told := only(w.events(t), run.Compaction); len(told) == 0 || metadata(t, told[0])["method"] != "dropped" {
		t.Errorf("events %v", lines(w.events(t)))
	}
}

// loops asks n times with one id and long arguments.
func loops(n int) []model.Turn {
	script := make([]model.Turn, 0, n+1)
	for range n {
		script = append(script, model.Ask(wish("c1", "look", fmt.Sprintf(`{"a":%q}`, strings.Repeat("a", 2500)))))
	}
	return append(script, model.Say("Done."))
}

// summing is a scripted model that can also be asked for a summary, which its script does not know of.
type summing struct {
	script []model.Turn
	silent bool // it has no summary
	heard  [][]run.Message
}

func (m *summing) Complete(ctx context.Context, request model.Request, onText func(string)) (model.Reply, error) {
	turn := model.Say("It was long.")
	if strings.HasPrefix(request.Messages[0].Content, "The person's message holds the earlier part") {
		if m.silent {
			turn = model.Say("")
		}
	} else {
		m.heard = append(m.heard, request.Messages)
		turn, m.script = m.script[0], m.script[1:]
	}
	return model.NewScripted([]model.Turn{turn}).Complete(ctx, request, onText)
}

// hire lets another model do the work.
func (w *world) hire(t *testing.T, client model.Client, changes ...func(*setting)) {
	t.Helper()
	s := setting{tools: w.tools}
	for _, change := range changes {
		change(&s)
	}
	w.client = client
	w.employ(t, s)
}

func TestWhatIsShownIsAlwaysWellFormedAndWithinTheBound(t *testing.T) {
	for seed := range 10 {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		var script []model.Turn
		for i := range 8 {
			ids := []string{}
			for j := range 1 + random.IntN(3) {
				ids = append(ids, fmt.Sprintf("c%d-%d", i, j))
			}
			script = append(script, looks(ids...))
		}
		w := newWorld(t, nil, bounded(12_000), func(s *setting) {
			s.tools.answers["look"] = func(context.Context, sdk.Call) (sdk.Result, error) {
				return sdk.Result{Content: strings.Repeat("ä", random.IntN(4000))}, nil
			}
			var history []run.Message
			for i := range random.IntN(10) {
				history = append(history, run.Message{Role: run.User, Content: strings.Repeat("q", random.IntN(3000))})
				if random.IntN(2) == 0 {
					id := fmt.Sprintf("h%d", i)
					history = append(history, run.Message{Role: run.Assistant, ToolCalls: []run.ToolCall{wish(id, "look", `{}`)}},
						run.Message{Role: run.ToolRole, ToolCallID: id, Content: strings.Repeat("h", random.IntN(3000))})
				}
				history = append(history, run.Message{Role: run.Assistant, Content: strings.Repeat("a", random.IntN(3000))})
			}
			spoke(s, history...)
		})
		client := &summing{script: append(script, model.Say("Done."))}
		w.hire(t, client, bounded(12_000))
		w.drive(t)
		if r := w.run(t); r.Status != run.Completed {
			t.Errorf("seed %d: %s %+v", seed, r.Status, r.Outcome)
		}
		for i, heard := range client.heard {
			wellFormed(t, heard)
			if size := textOf(heard); size > 12_000 {
				t.Errorf("seed %d, call %d: %d bytes", seed, i, size)
			}
			questions := 0
			for _, message := range heard {
				if message.Content == "What is alpha?" || message.Content == "Cite." {
					questions++
				}
			}
			if questions != 2 {
				t.Errorf("seed %d, call %d: the question or the system words are missing", seed, i)
			}
		}
	}
}

func TestArgumentsThatFillTheRoomAreShownByTheirBeginning(t *testing.T) {
	huge := wish("c1", "look", `{"a":"`+strings.Repeat("\\\"", 10_000)+`"}`)
	w := newWorld(t, []model.Turn{model.Ask(huge), model.Say("Done.")}, bounded(10_000))
	w.drive(t)
	if r := w.run(t); r.Status != run.Completed {
		t.Fatalf("status %s, outcome %+v", r.Status, r.Outcome)
	}
	heard := w.model.Requests()[1].Messages
	wellFormed(t, heard)
	call := heard[len(heard)-2].ToolCalls[0]
	if !json.Valid([]byte(call.Arguments)) || textOf(heard) > 10_000 || !strings.Contains(call.Arguments, "the first 400 of 20008 bytes are shown") {
		t.Errorf("%d bytes, arguments %s", textOf(heard), call.Arguments)
	}
	if ran := w.tools.calls; len(ran) != 1 || len(ran[0].Args) < 10_000 {
		t.Errorf("ran %d calls", len(ran))
	}
}
