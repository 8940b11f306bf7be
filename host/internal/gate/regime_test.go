package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// regimeOf returns a regime with the world's parts and one judge.
func (w *world) regimeOf(action string, judge Judge) Regime {
	w.t.Helper()
	return Regime{
		Sources: []Source{w.source}, Rules: rulesOf(w.t, action), ExecGuard: w.guard, Scoper: w.scoper,
		Judges: []Judge{judge},
	}
}

func judgeSaying(action sdk.Action) *fakeJudge {
	return &fakeJudge{name: "judge-" + string(action), wants: []string{"*"}, opinion: sdk.Opinion{Action: action, Reason: "said"}}
}

func isLeft(left <-chan struct{}) bool {
	select {
	case <-left:
		return true
	default:
		return false
	}
}

func TestPluginsAndRulesChangeTogether(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	before := g.Policy()
	after, left := g.Replace(w.regimeOf("allow", judgeSaying(sdk.Deny)))
	decision := g.DryRun(t.Context(), Probe{Tool: "read_file", Args: json.RawMessage(`{}`)})
	if after.Hash == before.Hash || decision.PolicyHash != after.Hash || decision.Action != sdk.Deny {
		t.Errorf("before %s, after %s, decision %+v", before.Hash, after.Hash, decision)
	}
	if !isLeft(left) {
		t.Error("nobody was under the old regime, and it is not left")
	}
}

func TestACallThatWasJudgedByPluginsOfBeforeIsJudgedAgain(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	g.Replace(w.regimeOf("allow", judgeSaying(sdk.Allow)))
	allowed := g.Check(t.Context(), callOf("read_file", `{}`))
	g.Replace(w.regimeOf("allow", judgeSaying(sdk.Deny)))
	if got := g.Do(context.Background(), allowed, nil); got.Denied != run.DeniedByPolicy {
		t.Errorf("outcome: %+v", got)
	}
	mustNotRun(t, w)
}

func TestAnApprovalIsJudgedAgainByPluginsOfToday(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	g.Replace(w.regimeOf("require_approval", judgeSaying(sdk.Allow)))
	approval := approvalOf(g.Check(t.Context(), callOf("read_file", `{}`)))
	g.Replace(w.regimeOf("require_approval", judgeSaying(sdk.Deny)))
	err := g.Recheck(t.Context(), run.Run{}, *approval)
	if !run.IsCode(err, run.CodePolicyDenied) {
		t.Errorf("error is %v", err)
	}
}

func TestACallUnderWayEndsUnderTheRegimeItBeganWith(t *testing.T) {
	w := newWorld(t)
	w.source.hang, w.source.hanging = true, make(chan struct{})
	g := w.gate()
	g.Enforce(rulesOf(t, "allow"))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan run.CallOutcome)
	go func() { ended <- g.Do(ctx, g.Check(ctx, callOf("read_file", `{}`)), nil) }()
	<-w.source.hanging
	g.Enforce(rulesOf(t, "caution")) // other rules leave the plugins where they are
	next := newWorld(t)
	_, left := g.Replace(next.regimeOf("deny", judgeSaying(sdk.Deny)))
	if isLeft(left) {
		t.Error("the old regime counts as left while a call is under way")
	}
	stop()
	if got := <-ended; got.Denied != "" || len(w.source.sent) != 1 {
		t.Errorf("outcome: %+v", got)
	}
	<-left
}

// mortalJudge fails the test's calls when it is asked after it was closed.
type mortalJudge struct {
	fakeJudge
	closed atomic.Bool
}

func (j *mortalJudge) Evaluate(context.Context, sdk.Question) (sdk.Opinion, error) {
	if j.closed.Load() {
		return sdk.Opinion{}, errors.New("asked after it was closed")
	}
	return j.opinion, nil
}

func TestNobodyIsAskedAfterTheRegimeIsLeft(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	judge := func() *mortalJudge { return &mortalJudge{fakeJudge: *judgeSaying(sdk.Allow)} }
	last := judge()
	g.Replace(w.regimeOf("allow", last))
	var asking, closing sync.WaitGroup
	over := make(chan struct{})
	for range 4 {
		asking.Go(func() {
			for !isLeft(over) {
				if d := g.DryRun(context.Background(), Probe{Tool: "read_file"}); d.Action != sdk.Allow {
					t.Errorf("decision: %+v", d)
					return
				}
			}
		})
	}
	for range 300 {
		next, old := judge(), last
		_, left := g.Replace(w.regimeOf("allow", next))
		closing.Go(func() { <-left; old.closed.Store(true) })
		last = next
	}
	close(over)
	asking.Wait()
	closing.Wait()
}

func TestAVerdictNamesThePolicyThatJudgedIt(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	hashes := map[string]bool{g.Policy().Hash: true}
	for _, action := range []sdk.Action{sdk.Allow, sdk.Caution, sdk.Deny} {
		snapshot, _ := g.Replace(w.regimeOf("allow", judgeSaying(action)))
		if got := g.Check(t.Context(), callOf("read_file", `{}`)).Decision().PolicyHash; got != snapshot.Hash || hashes[got] {
			t.Errorf("%s: %s, in force %s, known %s", action, got, snapshot.Hash, fmt.Sprint(hashes))
		}
		hashes[snapshot.Hash] = true
	}
}
