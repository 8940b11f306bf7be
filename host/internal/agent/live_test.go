package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

// slowly is a model that speaks word by word, two a second, and may break half way.
type slowly struct {
	model.Client
	breaks int // after so many words; 0 means never
}

var errBreak = &run.Error{Code: run.CodeModelProtocol, Sentence: "It broke.", Op: "complete"}

func (s slowly) Complete(ctx context.Context, request model.Request, onText func(string)) (model.Reply, error) {
	reply, err := s.Client.Complete(ctx, request, nil)
	if onText == nil || err != nil {
		return reply, err
	}
	for i, word := range strings.SplitAfter(reply.Text, " ") {
		if s.breaks > 0 && i == s.breaks {
			return model.Reply{}, errBreak
		}
		onText(word)
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return model.Reply{}, context.Cause(ctx)
		}
	}
	return reply, nil
}

// liveWorld is a run without tools that wants its answer in parts, of a model that speaks slowly.
func liveWorld(t *testing.T, turns []model.Turn, breaks int, changes ...func(*setting)) *world {
	t.Helper()
	return newWorld(t, turns, append([]func(*setting){func(s *setting) {
		s.request.StreamDeltas, s.request.ToolPolicy.Mode = true, run.NoTools
		s.speaking = func(c model.Client) model.Client { return slowly{c, breaks} }
	}}, changes...)...)
}

// parts are the released parts of an answer with the second each came in.
func (w *world) parts(t *testing.T, began time.Time) (texts []string, seconds []int) {
	t.Helper()
	for _, event := range only(w.events(t), run.AnswerDelta) {
		texts = append(texts, event.Content)
		seconds = append(seconds, int(event.Time.Sub(began)/time.Second))
	}
	return texts, seconds
}

func TestAStepWithoutToolsIsReleasedWhileTheModelWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := liveWorld(t, []model.Turn{model.Say("One two. Three is 3.14 now. Four")}, 0)
		w.drive(t)
		texts, seconds := w.parts(t, began)
		if diff := cmp.Diff([]string{"One two. ", "Three is 3.14 now. ", "Four"}, texts); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int{1, 3, 3}, seconds); diff != "" {
			t.Errorf("seconds (-want +got):\n%s", diff)
		}
		last, fields := w.ending(t)
		if last.Content != strings.Join(texts, "") || fields["answer_deltas"] != 3.0 {
			t.Errorf("answer %q, %v", last.Content, fields)
		}
		_ = w.Close()
	})
}

func TestNothingBehindASentenceThatMustNotLeaveIsReleasedBeforeItIsPutRight(t *testing.T) {
	for name, test := range map[string]struct {
		second model.Turn
		want   string
	}{
		"rewritten": {model.Say("It is two. Three."), "One. It is two. Three."},
		"dropped":   {model.Turn{Err: errBreak}, "One. Three."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := liveWorld(t, []model.Turn{model.Say("One. The MCP says two. Three."), test.second}, 0)
				w.drive(t)
				texts, _ := w.parts(t, time.Now())
				last, fields := w.ending(t)
				if last.Content != test.want || strings.Join(texts, "") != test.want || texts[0] != "One. " || fields["answer_check"] == nil {
					t.Errorf("answer %q in %q, %v", last.Content, texts, fields)
				}
				if got := w.model.Requests()[1].Messages[1].Content; got != "The MCP says two. Three." {
					t.Errorf("put right: %q", got)
				}
				_ = w.Close()
			})
		})
	}
}

func TestAnAnswerThatBreaksHalfWayEndsInAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := liveWorld(t, []model.Turn{model.Say("One. Two. Three.")}, 2)
		w.drive(t)
		events := w.events(t)
		want := []string{"session_start   | What is alpha?", "answer_delta   | One.", "error   | It broke."}
		if diff := cmp.Diff(want, lines(events)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		_ = w.Close()
	})
}

func TestCallsBesideReleasedWordsAreDeniedAndTheAnswerGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := model.Ask(wish("c1", "look", `{}`))
		ask.Reply.Text = "Let me look. Now."
		w := liveWorld(t, []model.Turn{ask, model.Say("I cannot.")}, 0)
		w.drive(t)
		texts, _ := w.parts(t, time.Now())
		last, _ := w.ending(t)
		if want := "Let me look. \n\nI cannot."; last.Content != want || strings.Join(texts, "") != want {
			t.Errorf("answer %q in %q", last.Content, texts)
		}
		if len(only(w.events(t), run.ToolResult)) != 1 || len(w.tools.ran()) != 0 {
			t.Errorf("events %v", lines(w.events(t)))
		}
		_ = w.Close()
	})
}

func TestAPartThatCannotBeStoredEndsTheModelCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := liveWorld(t, []model.Turn{model.Say("One. Two. Three. Four. Five.")}, 0)
		w.failing = func(batch ledger.Batch) error {
			if len(only(batch.Events, run.AnswerDelta)) > 0 {
				return ledger.ErrFenced
			}
			return nil
		}
		began := time.Now()
		if _, err := w.agent.Drive(t.Context(), w.run(t)); !errors.Is(err, ledger.ErrFenced) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the model spoke for %s", took)
		}
		_ = w.Close()
	})
}

func TestAResumedRunKeepsWhatWasReleased(t *testing.T) {
	for second, want := range map[string]string{"One. Two.": "One. Two.", "Other words.": "One. \n\nOther words."} {
		synctest.Test(t, func(t *testing.T) {
			w := liveWorld(t, []model.Turn{model.Say("One. Two."), model.Say(second)}, 0)
			w.failing = func(batch ledger.Batch) error {
				if batch.Finish != nil {
					return ledger.ErrClosed
				}
				return nil
			}
			if _, err := w.agent.Drive(t.Context(), w.run(t)); !errors.Is(err, ledger.ErrClosed) {
				t.Fatalf("got %v", err)
			}
			w.failing = nil
			w.drive(t)
			texts, _ := w.parts(t, time.Now())
			if last, _ := w.ending(t); last.Content != want || strings.Join(texts, "") != want {
				t.Errorf("answer %q in %q", last.Content, texts)
			}
			_ = w.Close()
		})
	}
}
