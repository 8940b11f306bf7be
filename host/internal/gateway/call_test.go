package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestAnAcceptedCallIsRequestedStartedAndCompleted(t *testing.T) {
	g := newWorld(t).open()
	reply := mustCall(t, g, search())
	page := g.Events(0)
	want := []string{
		`1: agent.tool.requested {"tool_id":"investigation.search"}`,
		`1: agent.tool.started {"tool_id":"investigation.search"}`,
		`1: agent.tool.completed {"result_id":"` + reply.ResultID + `","state":"COMPLETED","tool_id":"investigation.search"}`,
	}
	if diff := cmp.Diff(want, story(page.Events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, e := range page.Events {
		if e.CallID != reply.CallID || e.TurnID != someTurn {
			t.Errorf("event of another call: %+v", e)
		}
	}
}

func TestACallAndItsResultHaveIDsOfTheirOwn(t *testing.T) {
	reply := mustCall(t, newWorld(t).open(), search())
	if !run.IsUUID(reply.CallID) || !run.IsUUID(reply.ResultID) || reply.CallID == reply.ResultID {
		t.Errorf("reply = %+v", reply)
	}
}

func TestAResultIsServedInTheContractsForm(t *testing.T) {
	w := newWorld(t)
	w.source.say("provenance.trace", `{"z":"<b>&","a":1.50,"object_refs":[{"object_id":"`+node+`"}],"provenance_refs":[{"object_id":"`+neighbour+`"}]}`)
	g := w.open()
	reply := mustCall(t, g, request("provenance.trace", `{"object_id":"`+node+`"}`))
	want := `{"contract":"labfy.agent_tool_result.v1","result_id":"` + reply.ResultID + `","turn_id":"` + someTurn +
		`","call_id":"` + reply.CallID + `","tool_id":"provenance.trace","state":"COMPLETED","output":{"a":1.50,` +
		`"object_refs":[{"object_id":"` + node + `"}],"provenance_refs":[{"object_id":"` + neighbour + `"}],"z":"<b>&"},` +
		`"object_refs":[{"object_id":"` + node + `"}],"artifacts":[],"observations":[],` +
		`"provenance_refs":[{"object_id":"` + neighbour + `"}],"diagnostic":null}`
	if diff := cmp.Diff(want, string(mustResult(t, g, reply.ResultID).Encoded)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheCallsOwnReferencesAreItsResults(t *testing.T) {
	g := newWorld(t).open()
	r := request("graph.get_neighbors", `{"object_id":"`+node+`"}`)
	r.ObjectRefs = []string{node}
	if diff := cmp.Diff([]string{node}, mustResult(t, g, mustCall(t, g, r).ResultID).ObjectRefs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReferencesOutsideTheFormOfAnIDAreLeftOut(t *testing.T) {
	w := newWorld(t)
	w.source.say("investigation.search", `{"object_refs":[{"object_id":"<img src=x>"},7,null,{"id":"`+node+`"},{"object_id":7},{"object_id":"`+node+`"}]}`)
	g := w.open()
	if diff := cmp.Diff([]string{node}, mustResult(t, g, mustCall(t, g, search()).ResultID).ObjectRefs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAToolIsCalledInTheActiveWorkspaceAndOnNobodysBehalf(t *testing.T) {
	w := newWorld(t)
	reply := mustCall(t, w.open(), search())
	want := []sdk.Call{{
		Tool: "investigation.search", Args: json.RawMessage(`{"query":"log"}`), RunID: someTurn, CallID: reply.CallID,
		Identity:  sdk.Identity{UserKey: "agent-tools:harbour", UserID: "harbour", Caller: "agent-tools"},
		Workspace: harbour,
	}}
	got := w.source.calls()
	got[0].Deadline = time.Time{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARepeatedCallIsAnsweredAndNotExecutedAgain(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	r := request("investigation.search", `{"query":"log"}`)
	r.Context = json.RawMessage(`{"a":1,"b":{"c":2,"d":3}}`)
	first := mustCall(t, g, r)
	told := g.Events(0).Cursor
	r.Input = json.RawMessage(` { "query" : "lo\u0067" } `)
	r.Context = json.RawMessage(`{"b":{"d":3,"c":2},"a":1}`)
	r.TurnID = strings.ToUpper(r.TurnID)
	again := mustCall(t, g, r)
	want := first
	want.Replayed = true
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := len(w.source.calls()); n != 1 || g.Events(0).Cursor != told {
		t.Errorf("%d executions, events up to %d", n, g.Events(0).Cursor)
	}
}

func TestAKeyIsForOneIntention(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	first := search()
	mustCall(t, g, first)
	for name, change := range map[string]func(*Request){
		"turn":       func(r *Request) { r.TurnID = planID },
		"tool":       func(r *Request) { r.ToolID, r.Input = "research.get_state", json.RawMessage(`{}`) },
		"input":      func(r *Request) { r.Input = json.RawMessage(`{"query":"Log"}`) },
		"references": func(r *Request) { r.ObjectRefs = []string{node} },
		"context":    func(r *Request) { r.Context = json.RawMessage(`{}`) },
	} {
		r := first
		change(&r)
		_, err := g.Call(context.Background(), r)
		if !run.IsCode(err, CodeConflict) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if n := len(w.source.calls()); n != 1 {
		t.Errorf("%d executions", n)
	}
}

// held lets tools wait until the returned function is called.
func (w *world) held() (release func()) {
	gate := make(chan struct{})
	w.source.invoke = func(ctx context.Context, call sdk.Call) (sdk.Result, error) {
		select {
		case <-gate:
			return sdk.Result{Content: answers()[call.Tool]}, nil
		case <-ctx.Done():
			return sdk.Result{}, context.Cause(ctx)
		}
	}
	return func() { close(gate) }
}

func TestDuplicatesOfACallUnderWayWaitForItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := w.held()
		g := w.open()
		r := search()
		replies := make(chan Reply, 21)
		for range 21 {
			go func() {
				reply, err := g.Call(context.Background(), r)
				if err != nil {
					t.Error(err)
				}
				replies <- reply
			}()
			time.Sleep(31 * time.Millisecond)
		}
		other := r
		other.Input = json.RawMessage(`{"query":"else"}`)
		_, err := g.Call(context.Background(), other)
		wantCode(t, err, CodeConflict)
		release()
		first, fresh := <-replies, 0
		for i := range 21 {
			reply := first
			if i > 0 {
				reply = <-replies
			}
			if !reply.Replayed {
				fresh++
			}
			reply.Replayed = first.Replayed
			if diff := cmp.Diff(first, reply); diff != "" {
				t.Errorf("(-first +other):\n%s", diff)
			}
		}
		if n := len(w.source.calls()); n != 1 || fresh != 1 || first.State != Completed {
			t.Errorf("%d executions, %d answers that are no replay, state %s", n, fresh, first.State)
		}
	})
}

func TestACallOutlivesTheClientThatAskedForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := w.held()
		g := w.open()
		r := search()
		gone := errors.New("the client left")
		ctx, leave := context.WithCancelCause(context.Background())
		go func() {
			synctest.Wait()
			leave(gone)
		}()
		if _, err := g.Call(ctx, r); !errors.Is(err, gone) {
			t.Errorf("error = %v", err)
		}
		release()
		if reply := mustCall(t, g, r); reply.State != Completed || !reply.Replayed {
			t.Errorf("reply = %+v", reply)
		}
		if n := len(w.source.calls()); n != 1 {
			t.Errorf("%d executions", n)
		}
	})
}

func TestACallEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.held()
		w.cfg.CallTimeout = 7 * time.Second
		g := w.open()
		began := time.Now()
		reply := mustCall(t, g, search())
		result := mustResult(t, g, reply.ResultID)
		if took := time.Since(began); took != 7*time.Second || result.Diagnostic != "The tool did not answer in time." || reply.State != Failed {
			t.Errorf("after %s: %s %q", took, reply.State, result.Diagnostic)
		}
	})
}

func TestAResultIsKeptUpToItsBoundAndNotOneByteMore(t *testing.T) {
	for over, want := range map[int]run.Code{0: "", 1: CodeResultTooLarge} {
		w := newWorld(t)
		g := w.open()
		r := request("graph.get_node", `{"object_id":"`+node+`"}`)
		empty := mustResult(t, g, mustCall(t, g, request("graph.get_node", `{"object_id":"`+node+`"}`)).ResultID)
		w.source.say("graph.get_node", `{}`)
		room := 262144 - len(mustResult(t, g, mustCall(t, g, request("graph.get_node", `{"object_id":"`+node+`"}`)).ResultID).Encoded)
		w.source.say("graph.get_node", `{"a":"`+strings.Repeat("x", room-len(`"a":""`)+over)+`"}`)
		reply, err := g.Call(context.Background(), r)
		if want != "" {
			wantTooLarge(t, w, g, r, err)
			continue
		}
		if got := mustResult(t, g, reply.ResultID); err != nil || len(got.Encoded) != 262144 || empty.State != Completed {
			t.Errorf("%d bytes, error %v", len(got.Encoded), err)
		}
	}
}

// wantTooLarge holds that a call whose result is too large ran once, failed for everybody, and is told as failed.
func wantTooLarge(t *testing.T, w *world, g *Gateway, r Request, first error) {
	t.Helper()
	wantCode(t, first, CodeResultTooLarge)
	executed := len(w.source.calls())
	_, err := g.Call(context.Background(), r)
	wantCode(t, err, CodeResultTooLarge)
	if n := len(w.source.calls()); n != executed {
		t.Errorf("the replay executed the tool")
	}
	events := g.Events(0).Events
	var completed struct {
		ResultID string `json:"result_id"`
		State    State  `json:"state"`
	}
	if err := json.Unmarshal(events[len(events)-1].Payload, &completed); err != nil {
		t.Fatal(err)
	}
	result := mustResult(t, g, completed.ResultID)
	if completed.State != Failed || result.State != Failed || string(result.Output) != `{}` || result.Diagnostic == "" {
		t.Errorf("told %+v, kept %+v", completed, result)
	}
}

func TestTheSixtyFifthCallPushesTheFirstOut(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	first, second := search(), search()
	replies := []Reply{mustCall(t, g, first), mustCall(t, g, second)}
	for range 62 {
		mustCall(t, g, search())
	}
	if _, err := g.Result(replies[0].ResultID); err != nil {
		t.Errorf("of 64 calls the first is gone: %v", err)
	}
	mustCall(t, g, search())
	_, err := g.Result(replies[0].ResultID)
	wantCode(t, err, CodeResultUnknown)
	if !mustCall(t, g, second).Replayed {
		t.Errorf("the second call is gone as well")
	}
	if again := mustCall(t, g, first); again.Replayed || again.CallID == replies[0].CallID {
		t.Errorf("the first call's key is still known: %+v", again)
	}
}

func TestACallUnderWayIsNeverPushedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.cfg.Limits.Calls = 2
		release := w.held()
		g := w.open()
		r := search()
		slow := make(chan Reply, 1)
		go func() { slow <- mustCall(t, g, r) }()
		synctest.Wait()
		w.source.invoke = nil
		for range 3 {
			mustCall(t, g, search())
		}
		release()
		reply := <-slow
		if again := mustCall(t, g, r); !again.Replayed || again.CallID != reply.CallID {
			t.Errorf("the call under way was pushed out: %+v", again)
		}
	})
}

func TestWhenEveryPlaceIsUnderWayTheNextCallIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.cfg.Limits.Calls = 2
		release := w.held()
		g := w.open()
		ended := make(chan Reply, 2)
		for range 2 {
			go func() { ended <- mustCall(t, g, search()) }()
		}
		synctest.Wait()
		told := g.Events(0).Cursor
		_, err := g.Call(context.Background(), search())
		wantCode(t, err, CodeCapacity)
		_, err = g.Start(context.Background(), "log")
		wantCode(t, err, CodeCapacity)
		if g.Events(0).Cursor != told {
			t.Errorf("a refused call was told")
		}
		release()
		<-ended
		<-ended
		mustCall(t, g, search())
	})
}

func TestAResultIsAskedForByItsUUID(t *testing.T) {
	g := newWorld(t).open()
	_, err := g.Result("../../etc/passwd")
	wantCode(t, err, CodeInvalid)
	_, err = g.Result(someTurn)
	wantCode(t, err, CodeResultUnknown)
	reply := mustCall(t, g, search())
	mustResult(t, g, strings.ToUpper(reply.ResultID))
}

func TestAResultUnderWayIsNotKnownYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := w.held()
		g := w.open()
		ended := make(chan Reply, 1)
		go func() { ended <- mustCall(t, g, search()) }()
		synctest.Wait()
		var id string
		g.mu.Lock()
		for id = range g.shelf.results {
		}
		g.mu.Unlock()
		_, err := g.Result(id)
		wantCode(t, err, CodeResultUnknown)
		release()
		<-ended
		mustResult(t, g, id)
	})
}
