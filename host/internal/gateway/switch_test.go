package gateway

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func mustActivate(t *testing.T, g *Gateway, workspace string) {
	t.Helper()
	if err := g.Activate(workspace); err != nil {
		t.Fatal(err)
	}
}

func TestASwitchLeavesNothingOfTheOtherWorkspace(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	r := search()
	reply, turn := mustCall(t, g, r), mustStart(t, g, "log")
	for _, workspace := range []string{orchard, harbour} {
		mustActivate(t, g, workspace)
		if g.Active() != workspace {
			t.Errorf("active = %q", g.Active())
		}
		if page := g.Events(0); len(page.Events) > 0 || page.Cursor != 21 {
			t.Errorf("%s: events %v, cursor %d", workspace, page.Events, page.Cursor)
		}
		_, err := g.Result(reply.ResultID)
		wantCode(t, err, CodeResultUnknown)
		_, err = g.Resume(context.Background(), turn.ID)
		wantCode(t, err, CodeTurnUnknown)
	}
	if again := mustCall(t, g, r); again.Replayed {
		t.Errorf("the key of a call from before the switch is still known")
	}
}

func TestAKeyOfOneWorkspaceIsFreeInAnother(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	r := search()
	mustCall(t, g, r)
	mustActivate(t, g, orchard)
	r.TurnID = planID
	if reply := mustCall(t, g, r); reply.Replayed {
		t.Errorf("reply = %+v", reply)
	}
	if got := w.source.calls()[1].Workspace; got != orchard {
		t.Errorf("called in %q", got)
	}
}

func TestAnOldCursorMissesNothingOfTheNewWorkspace(t *testing.T) {
	g := newWorld(t).open()
	mustCall(t, g, search())
	mustActivate(t, g, orchard)
	mustCall(t, g, search())
	for _, cursor := range []int64{0, 1, 3} {
		page := g.Events(cursor)
		if diff := cmp.Diff([]int64{4, 5, 6}, sequences(page)); diff != "" || page.Gap || page.Cursor != 6 {
			t.Errorf("after %d: gap %v, cursor %d (-want +got):\n%s", cursor, page.Gap, page.Cursor, diff)
		}
	}
}

func TestWhoComesBackToAWorkspaceIsToldThatItsEventsAreGone(t *testing.T) {
	g := newWorld(t).open()
	mustCall(t, g, search())
	mustActivate(t, g, orchard)
	mustCall(t, g, search())
	mustActivate(t, g, harbour)
	for cursor, gap := range map[int64]bool{0: true, 2: true, 3: false, 6: false} {
		if page := g.Events(cursor); page.Gap != gap || len(page.Events) > 0 {
			t.Errorf("after %d: %+v", cursor, page)
		}
	}
}

func TestACallUnderWayAtASwitchEndsIntoNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := w.held()
		g := w.open()
		r := search()
		ended := make(chan Reply, 2)
		for range 2 {
			go func() { ended <- mustCall(t, g, r) }()
		}
		synctest.Wait()
		mustActivate(t, g, orchard)
		release()
		for range 2 {
			reply := <-ended
			if reply.State != Completed {
				t.Errorf("reply = %+v", reply)
			}
			_, err := g.Result(reply.ResultID)
			wantCode(t, err, CodeResultUnknown)
		}
		if page := g.Events(0); len(page.Events) > 0 || page.Cursor != 2 {
			t.Errorf("page = %+v", page)
		}
		mustActivate(t, g, harbour)
		if page := g.Events(0); len(page.Events) > 0 {
			t.Errorf("page = %+v", page)
		}
	})
}

func TestATurnUnderWayAtASwitchTakesNoFurtherStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := w.held()
		g := w.open()
		ended := make(chan Turn, 1)
		go func() { ended <- mustStart(t, g, "log") }()
		synctest.Wait()
		mustActivate(t, g, orchard)
		release()
		if turn := <-ended; turn.State != Failed || turn.ResearchPlan != nil {
			t.Errorf("turn = %+v", turn)
		}
		if n := len(w.source.calls()); n != 1 || len(g.Events(0).Events) > 0 {
			t.Errorf("%d calls, events %v", n, g.Events(0).Events)
		}
	})
}

func TestACallOfAnotherWorkspaceThanTheActiveOneIsNotMade(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	of := search()
	of.Workspace = harbour
	mustCall(t, g, of)
	mustActivate(t, g, orchard)
	_, err := g.Call(t.Context(), of)
	wantCode(t, err, CodeUnknownSpace)
	if n := len(w.source.calls()); n != 1 || len(g.Events(0).Events) > 0 {
		t.Errorf("%d calls, events %v", n, g.Events(0).Events)
	}
}

func TestTheActiveWorkspaceItselfIsNoSwitch(t *testing.T) {
	w := newWorld(t)
	told := []string{}
	w.cfg.Switched = func(workspace string) { told = append(told, workspace) }
	g := w.open()
	reply := mustCall(t, g, search())
	mustActivate(t, g, harbour)
	mustResult(t, g, reply.ResultID)
	mustActivate(t, g, orchard)
	if diff := cmp.Diff([]string{orchard}, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheLastSwitchIsToldLast(t *testing.T) {
	w := newWorld(t)
	var told string // Switched is called by one at a time: the race detector would see
	w.cfg.Switched = func(workspace string) { told = workspace }
	g := w.open()
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() {
			for i := range 50 {
				if err := g.Activate([]string{harbour, orchard}[(client+i)%2]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	if told != g.Active() {
		t.Errorf("told %q, active %q", told, g.Active())
	}
}

func TestAnUnknownWorkspaceIsNotActivated(t *testing.T) {
	g := newWorld(t).open()
	for _, id := range []string{"", "attic", "../harbour"} {
		wantCode(t, g.Activate(id), CodeUnknownSpace)
	}
	if g.Active() != harbour {
		t.Errorf("active = %q", g.Active())
	}
}

func TestWithoutAWorkspaceNothingIsCalled(t *testing.T) {
	w := newWorld(t)
	w.cfg.Active = ""
	g := w.open()
	_, err := g.Call(context.Background(), search())
	wantCode(t, err, CodeNoWorkspace)
	_, err = g.Start(context.Background(), "log")
	wantCode(t, err, CodeNoWorkspace)
	_, err = g.Resume(context.Background(), someTurn)
	wantCode(t, err, CodeTurnUnknown)
	_, err = g.Result(someTurn)
	wantCode(t, err, CodeResultUnknown)
	mustActivate(t, g, orchard)
	mustCall(t, g, search())
}

func TestCallsThatASwitchLeftBehindStillTakeTheirPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.cfg.Limits.Calls = 1
		release := w.held()
		g := w.open()
		ended := make(chan Reply, 1)
		go func() { ended <- mustCall(t, g, search()) }()
		synctest.Wait()
		mustActivate(t, g, orchard)
		_, err := g.Call(context.Background(), search())
		wantCode(t, err, CodeCapacity)
		release()
		<-ended
	})
}

func TestCloseEndsWhatIsUnderWayAndTakesNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.held()
		g := w.open()
		calls, turns := make(chan Reply, 1), make(chan Turn, 1)
		go func() { calls <- mustCall(t, g, search()) }()
		go func() { turns <- mustStart(t, g, "log") }()
		synctest.Wait()
		began := time.Now()
		if err := g.Close(context.Background()); err != nil || time.Since(began) > 0 {
			t.Errorf("closed after %s: %v", time.Since(began), err)
		}
		if reply, turn := <-calls, <-turns; reply.State != Failed || turn.State != Failed {
			t.Errorf("reply %+v, turn %+v", reply, turn)
		}
		_, err := g.Call(context.Background(), search())
		wantCode(t, err, CodeClosed)
		_, err = g.Start(context.Background(), "log")
		wantCode(t, err, CodeClosed)
		_, err = g.Resume(context.Background(), someTurn)
		wantCode(t, err, CodeClosed)
		wantCode(t, g.Activate(orchard), CodeClosed)
		if page := g.Events(0); len(page.Events) > 0 {
			t.Errorf("events are left: %v", page.Events)
		}
	})
}

// deaf makes tools that ignore that their time is over, until the returned function is called.
func (w *world) deaf() (release func()) {
	end := make(chan struct{})
	w.source.invoke = func(context.Context, sdk.Call) (sdk.Result, error) {
		<-end
		return sdk.Result{Content: `{}`}, nil
	}
	return func() { close(end) }
}

func TestCloseDoesNotWaitForeverForAToolThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := w.deaf()
		g := w.open()
		ended := make(chan Reply, 1)
		go func() { ended <- mustCall(t, g, search()) }()
		synctest.Wait()
		late := errors.New("enough")
		ctx, stop := context.WithTimeoutCause(context.Background(), time.Second, late)
		defer stop()
		if err := g.Close(ctx); !errors.Is(err, late) {
			t.Errorf("error = %v", err)
		}
		release()
		<-ended
	})
}

func TestAGatewayIsNotBuiltWithoutItsParts(t *testing.T) {
	w := newWorld(t)
	complete := w.open().cfg
	for name, spoil := range map[string]func(*Config){
		"no gate":           func(c *Config) { c.Gate = nil },
		"no research":       func(c *Config) { c.Research = nil },
		"unknown workspace": func(c *Config) { c.Active = "attic" },
	} {
		cfg := complete
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: built", name)
		}
	}
}
