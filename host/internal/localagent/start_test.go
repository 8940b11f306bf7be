package localagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/localagent"
)

func TestOneTurnRunsAndEightWait(t *testing.T) {
	inWorld(t, plain, []any{nil, final("Done.")}, func(t *testing.T, w world) {
		slow := newLate()
		w.model.lines[0] = slow.stubborn
		for range 9 {
			if _, err := w.Start(t.Context(), "Find out.", ""); err != nil {
				t.Fatal(err)
			}
		}
		_, err := w.Start(t.Context(), "Find out.", "")
		wantCode(t, err, localagent.CodeQueueFull)
		synctest.Wait()
		if w.model.count() != 1 {
			t.Errorf("%d turns run at once", w.model.count())
		}
		_, err = w.Start(t.Context(), "Find out.", "")
		wantCode(t, err, localagent.CodeQueueFull)
		slow.answer <- final("Done.")
		synctest.Wait()
		w.start(t, "Find out.")
	})
}

func TestTheOldestFinalTurnGivesWay(t *testing.T) {
	inWorld(t, localagent.Config{Limits: localagent.Limits{Turns: 2}}, append(untilPause(), untilPause()...), func(t *testing.T, w world) {
		waiting, first := w.start(t, "Waits."), w.start(t, "Ends.")
		second := w.start(t, "Waits too.")
		w.settled(t, waiting.ID)
		w.settled(t, second.ID)
		_, err := w.Turn(first.ID)
		wantCode(t, err, localagent.CodeUnknown)
		_, err = w.Start(t.Context(), "One too many.", "")
		wantCode(t, err, localagent.CodeCapacity)
	})
}

func TestThirtyTwoTurnsAreRemembered(t *testing.T) {
	inWorld(t, plain, []any{final("Done.")}, func(t *testing.T, w world) {
		first := w.start(t, "First.")
		for range 31 {
			w.start(t, "Another.")
		}
		w.settled(t, first.ID)
		w.start(t, "One more.")
		_, err := w.Turn(first.ID)
		wantCode(t, err, localagent.CodeUnknown)
	})
}

func TestAKeyStartsOneTurn(t *testing.T) {
	inWorld(t, plain, []any{final("Done.")}, func(t *testing.T, w world) {
		first, err := w.Start(t.Context(), "Find out.", "key")
		if err != nil {
			t.Fatal(err)
		}
		ended := w.settled(t, first.ID)
		again, err := w.Start(t.Context(), "Find out.", "key")
		if err != nil || again != ended || w.model.count() != 1 {
			t.Errorf("%+v %v", again, err)
		}
		_, err = w.Start(t.Context(), "Something else.", "key")
		wantCode(t, err, localagent.CodeConflict)
	})
}

func TestAKeyIsKnownEvenWhenTheQueueIsFull(t *testing.T) {
	inWorld(t, localagent.Config{Limits: localagent.Limits{Queue: 1}}, []any{nil, final("Done.")}, func(t *testing.T, w world) {
		slow := newLate()
		w.model.lines[0] = slow.stubborn
		first, err := w.Start(t.Context(), "Find out.", "key")
		if err != nil {
			t.Fatal(err)
		}
		w.start(t, "Queued.")
		if again, err := w.Start(t.Context(), "Find out.", "key"); err != nil || again.ID != first.ID {
			t.Errorf("%+v %v", again, err)
		}
		slow.answer <- final("Done.")
	})
}

func TestWhatIsNoObjectiveStartsNothing(t *testing.T) {
	inWorld(t, plain, []any{final("Done.")}, func(t *testing.T, w world) {
		for _, c := range []struct{ objective, key string }{
			{"", ""},
			{" \n\t", ""},
			{strings.Repeat("é", 513), ""},
			{"a\x00b", ""},
			{"\xff", ""},
			{"fine", strings.Repeat("k", 129)},
			{"fine", "\xff"},
		} {
			_, err := w.Start(t.Context(), c.objective, c.key)
			wantCode(t, err, localagent.CodeInvalid)
		}
		w.start(t, strings.Repeat("é", 512))
	})
}

func TestEventsBeyondTheBoundGiveWayAndLeaveAGap(t *testing.T) {
	inWorld(t, localagent.Config{Limits: localagent.Limits{Turns: 64}}, []any{final("Done.")}, func(t *testing.T, w world) {
		for range 43 { // three events each
			w.start(t, "Find out.")
		}
		page := w.Events(0)
		if len(page.Events) != 128 || page.Events[0].Sequence != 2 || page.Cursor != 129 || !page.Gap {
			t.Errorf("%d events from %d, cursor %d, gap %v", len(page.Events), page.Events[0].Sequence, page.Cursor, page.Gap)
		}
		if page := w.Events(1); page.Gap || len(page.Events) != 128 {
			t.Errorf("after 1: %d events, gap %v", len(page.Events), page.Gap)
		}
		if page := w.Events(127); page.Gap || len(page.Events) != 2 {
			t.Errorf("after 127: %d events, gap %v", len(page.Events), page.Gap)
		}
		if page := w.Events(129); page.Events == nil || len(page.Events) != 0 {
			t.Errorf("after the last: %+v", page)
		}
	})
}

func TestEventsSayWhatHappenedInSmallObjects(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		w.start(t, "Find <b>out</b>.")
		var got []string
		for _, e := range w.Events(0).Events {
			got = append(got, string(e.Payload))
			if e.At.IsZero() || e.At.Location().String() != "UTC" {
				t.Error(e.At)
			}
		}
		want := []string{
			`{"objective":"Find <b>out</b>."}`,
			`{}`,
			`{"tool_id":"research.prepare"}`,
			`{"tool_id":"research.prepare","result_id":"result-1","state":"AUTHORIZATION_REQUIRED"}`,
			`{"tool_id":"research.prepare","result_id":"result-1","reason":"human_grant_required"}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTheStatusSaysWhatStandsBehindTheTurns(t *testing.T) {
	down := func(context.Context) error { return errors.New("refused by 10.0.0.1") }
	for name, c := range map[string]struct {
		cfg  localagent.Config
		want localagent.Status
	}{
		"demo": {localagent.Config{Mode: localagent.Demo}, localagent.Status{
			Mode: "deterministic-demo", Configured: true, Available: true, Provider: "deterministic-demo", EndpointKind: "none",
		}},
		"model": {localagent.Config{Mode: localagent.LocalModel, Model: &model{}, ModelName: "small"}, localagent.Status{
			Mode: "local-model", Configured: true, Available: true, Provider: "openai-compatible-local",
			EndpointKind: "loopback", Model: "small",
		}},
		"model that is down": {localagent.Config{Mode: localagent.LocalModel, Model: &model{}, Reachable: down}, localagent.Status{
			Mode: "local-model", Configured: true, Provider: "openai-compatible-local", EndpointKind: "loopback",
			Reason: "Nobody listens at the model's endpoint.",
		}},
		"no model": {localagent.Config{Mode: localagent.LocalModel}, localagent.Status{
			Mode: "local-model", Provider: "openai-compatible-local", EndpointKind: "none", Reason: "No model is configured.",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, c.cfg, nil, func(t *testing.T, w world) {
				if diff := cmp.Diff(c.want, w.Status(t.Context())); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestARuntimeWithoutItsPartsIsNotMade(t *testing.T) {
	for _, cfg := range []localagent.Config{
		{Mode: localagent.Demo},
		{Mode: localagent.Demo, Gateway: &gates{}},
		{Gateway: &gates{}, Research: &people{}},
		{Gateway: &gates{}, Research: &people{}, Mode: "cloud"},
	} {
		if _, err := localagent.New(cfg); err == nil {
			t.Errorf("%+v", cfg)
		}
	}
}

func TestManyHandsLeaveEveryTurnInOneState(t *testing.T) {
	inWorld(t, localagent.Config{Limits: localagent.Limits{Queue: 16}}, []any{call("research.prepare", `{}`)}, func(t *testing.T, w world) {
		w.people.released["north/plan-1"] = true
		var hands sync.WaitGroup
		for hand := range 8 {
			hands.Go(func() {
				for i := range 20 {
					turn, err := w.Start(t.Context(), fmt.Sprint(hand, i), "")
					if err != nil {
						continue
					}
					_, _ = w.Resume(t.Context(), turn.ID)
					_ = w.Events(0)
					if i%3 == 0 {
						_, _ = w.Cancel(turn.ID)
					}
					if hand == 0 && i%10 == 9 {
						w.Switch([]string{"south", "north"}[i/10])
					}
					_, _ = w.Turn(turn.ID)
				}
			})
		}
		hands.Wait()
		synctest.Wait()
		last := map[string]localagent.Kind{}
		for _, e := range w.Events(0).Events {
			if ended := last[e.TurnID]; ended == localagent.KindCancelled || ended == localagent.KindBudgetExhausted {
				t.Errorf("%s after %s", e.Kind, ended)
			}
			last[e.TurnID] = e.Kind
			if !json.Valid(e.Payload) {
				t.Error(string(e.Payload))
			}
		}
	})
}
