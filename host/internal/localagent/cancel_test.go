package localagent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
)

// late answers when it is told to, and says which context it was given.
type late struct {
	began  chan context.Context
	answer chan string
}

func newLate() late {
	return late{began: make(chan context.Context, 1), answer: make(chan string)}
}

// stubborn answers in the end, whatever became of the context.
func (l late) stubborn(ctx context.Context) (string, error) {
	l.began <- ctx
	return <-l.answer, nil
}

// obedient returns as soon as its context ends.
func (l late) obedient(ctx context.Context) (string, error) {
	l.began <- ctx
	<-ctx.Done()
	return "", context.Cause(ctx)
}

// wantCancelled cancels a turn and fails unless it stays cancelled.
func wantCancelled(t *testing.T, w world, id string) {
	t.Helper()
	turn, err := w.Cancel(id)
	if err != nil || turn.State != localagent.Cancelled || turn.Pending != nil {
		t.Fatalf("%+v %v", turn, err)
	}
}

// wantStillCancelled fails unless a turn was cancelled and nothing came after it.
func wantStillCancelled(t *testing.T, w world, id string) {
	t.Helper()
	turn := w.settled(t, id)
	if turn.State != localagent.Cancelled || turn.Final != "" {
		t.Errorf("%+v", turn)
	}
	if got := w.kinds(id); !strings.HasSuffix(got, " cancelled") || strings.Count(got, "cancelled") != 1 {
		t.Error(got)
	}
}

func TestALateAnswerOfTheModelIsDropped(t *testing.T) {
	for name, answer := range map[string]string{"a last word": final("Late."), "a call": call("graph.get_node", `{}`), "no form": "?"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, plain, []any{nil}, func(t *testing.T, w world) {
				slow := newLate()
				w.model.lines[0] = slow.stubborn
				turn := w.start(t, "Find out.")
				ctx := <-slow.began
				wantCancelled(t, w, turn.ID)
				if ctx.Err() == nil {
					t.Error("the request goes on")
				}
				slow.answer <- answer
				wantStillCancelled(t, w, turn.ID)
				if len(w.gates.called()) != 0 || w.model.count() != 1 {
					t.Error(w.gates.called(), w.model.count())
				}
			})
		})
	}
}

func TestTheWorkerGoesOnWhenAModelIsGivenUp(t *testing.T) {
	inWorld(t, plain, []any{nil, final("Done.")}, func(t *testing.T, w world) {
		slow := newLate()
		w.model.lines[0] = slow.obedient
		turn := w.start(t, "Find out.")
		wantCancelled(t, w, turn.ID)
		wantStillCancelled(t, w, turn.ID)
		if next := w.start(t, "Something else."); next.State != localagent.Completed {
			t.Errorf("%+v", next)
		}
	})
}

func TestALateResultOfAToolIsDropped(t *testing.T) {
	for name, state := range map[string]gateway.State{"a result": gateway.Completed, "a wait for a person": gateway.AuthorizationRequired} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, plain, []any{call("graph.get_node", `{}`), final("Done.")}, func(t *testing.T, w world) {
				finish := make(chan struct{})
				w.gates.tools["graph.get_node"] = func(context.Context, gateway.Request) (gateway.State, string, error) {
					<-finish
					return state, `{"plan_id":"plan-1"}`, nil
				}
				turn := w.start(t, "Find out.")
				wantCancelled(t, w, turn.ID)
				close(finish)
				wantStillCancelled(t, w, turn.ID)
				if w.model.count() != 1 {
					t.Error("the model was asked again")
				}
			})
		})
	}
}

func TestAQueuedTurnIsCancelledAndGivesItsPlaceBack(t *testing.T) {
	inWorld(t, localagent.Config{Limits: localagent.Limits{Queue: 1}}, []any{nil, final("Done.")}, func(t *testing.T, w world) {
		slow := newLate()
		w.model.lines[0] = slow.stubborn
		w.start(t, "Find out.")
		queued := w.start(t, "Second.")
		if _, err := w.Start(t.Context(), "Third.", ""); err == nil {
			t.Error("there was room")
		}
		wantCancelled(t, w, queued.ID)
		third := w.start(t, "Third.")
		slow.answer <- final("Done.")
		wantStillCancelled(t, w, queued.ID)
		if third = w.settled(t, third.ID); third.State != localagent.Completed {
			t.Errorf("%+v", third)
		}
		if got := w.kinds(queued.ID); got != "queued cancelled" {
			t.Error(got)
		}
	})
}

func TestATurnThatWaitsForAPersonIsCancelled(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		wantCancelled(t, w, turn.ID)
		w.people.released["north/plan-1"] = true
		_, err := w.Resume(t.Context(), turn.ID)
		wantCode(t, err, localagent.CodeNotWaiting)
		wantStillCancelled(t, w, turn.ID)
	})
}

func TestACancelBeatsAResumeUnderWay(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		w.people.released["north/plan-1"], w.people.hold = true, make(chan struct{})
		refused := make(chan error)
		go func() {
			_, err := w.Resume(t.Context(), turn.ID)
			refused <- err
		}()
		synctest.Wait()
		wantCancelled(t, w, turn.ID)
		close(w.people.hold)
		wantCode(t, <-refused, localagent.CodeNotWaiting)
		wantStillCancelled(t, w, turn.ID)
	})
}

func TestACancelledResumeReadsNothing(t *testing.T) {
	inWorld(t, plain, []any{call("research.prepare", `{}`), nil, final("Done.")}, func(t *testing.T, w world) {
		slow := newLate()
		w.model.lines[1] = slow.stubborn
		turn := w.start(t, "Find out.")
		w.start(t, "Holds the worker.")
		w.people.released["north/plan-1"] = true
		if _, err := w.Resume(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
		wantCancelled(t, w, turn.ID)
		slow.answer <- final("Done.")
		wantStillCancelled(t, w, turn.ID)
		if called := w.gates.called(); len(called) != 1 {
			t.Error(called)
		}
	})
}

func TestAFinalTurnStaysAsItIs(t *testing.T) {
	inWorld(t, plain, []any{final("Done.")}, func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		if again, err := w.Cancel(turn.ID); err != nil || again != turn {
			t.Errorf("%+v %v", again, err)
		}
		_, err := w.Cancel("00000000-0000-4000-8000-000000000000")
		wantCode(t, err, localagent.CodeUnknown)
	})
}

func TestASwitchOfWorkspaceEndsAndForgetsEverything(t *testing.T) {
	inWorld(t, plain, []any{call("research.prepare", `{}`), nil, final("Done.")}, func(t *testing.T, w world) {
		slow := newLate()
		w.model.lines[1] = slow.stubborn
		waiting := w.start(t, "Waits.")
		running := w.start(t, "Runs.")
		queued := w.start(t, "Queued.")
		ctx, before := <-slow.began, w.Events(0).Cursor
		w.Switch("south")
		if ctx.Err() == nil {
			t.Error("the request goes on")
		}
		slow.answer <- call("graph.get_node", `{}`)
		synctest.Wait()
		for _, old := range []localagent.Turn{waiting, running, queued} {
			_, err := w.Turn(old.ID)
			wantCode(t, err, localagent.CodeUnknown)
		}
		if called := w.gates.called(); len(called) != 1 {
			t.Error(called)
		}
		if page := w.Events(0); len(page.Events) != 0 || page.Gap {
			t.Errorf("%+v", page)
		}
		turn := w.start(t, "In the south.")
		if page := w.Events(before); turn.State != localagent.Completed || page.Events[0].Sequence <= before || page.Gap {
			t.Errorf("%+v %+v", turn, page)
		}
	})
}

func TestAResumeAcrossASwitchFindsNothing(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		w.people.released["north/plan-1"], w.people.hold = true, make(chan struct{})
		refused := make(chan error)
		go func() {
			_, err := w.Resume(t.Context(), turn.ID)
			refused <- err
		}()
		synctest.Wait()
		w.Switch("south")
		close(w.people.hold)
		wantCode(t, <-refused, localagent.CodeUnknown)
	})
}

func TestTheSameWorkspaceAgainIsNoSwitch(t *testing.T) {
	inWorld(t, plain, []any{final("Done.")}, func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		w.Switch("north")
		w.settled(t, turn.ID)
	})
}

func TestWithoutAWorkspaceNothingStarts(t *testing.T) {
	inWorld(t, plain, []any{final("Done.")}, func(t *testing.T, w world) {
		w.Switch("")
		_, err := w.Start(t.Context(), "Find out.", "")
		wantCode(t, err, localagent.CodeNoneActive)
	})
}

func TestACloseCancelsAndTakesNoMore(t *testing.T) {
	inWorld(t, plain, []any{nil}, func(t *testing.T, w world) {
		slow := newLate()
		w.model.lines[0] = slow.obedient
		running, queued := w.start(t, "Runs."), w.start(t, "Queued.")
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
		wantStillCancelled(t, w, running.ID)
		wantStillCancelled(t, w, queued.ID)
		_, err := w.Start(t.Context(), "Late.", "")
		wantCode(t, err, localagent.CodeClosed)
	})
}

func TestACloseWaitsNoLongerThanItsContext(t *testing.T) {
	inWorld(t, plain, []any{nil}, func(t *testing.T, w world) {
		slow := newLate()
		w.model.lines[0] = slow.stubborn
		w.start(t, "Runs.")
		ctx, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		if err := w.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		slow.answer <- final("Late.")
	})
}
