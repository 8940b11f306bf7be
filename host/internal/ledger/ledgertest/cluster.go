package ledgertest

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func clusterFacts() []fact {
	return []fact{
		{"NodeIsAliveAsLongAsItsLease", nodeIsAlive},
		{"NodeTellsHowManyRunsItDrives", nodeTellsItsRuns},
		{"TwoNodesOfOneNameAreTwoNodes", twoOfOneName},
		{"NodeThatDepartsIsForgotten", departedIsForgotten},
		{"DutyBelongsToOneNodeAtATime", dutyBelongsToOne},
		{"OfManyTakingADutyOneHasIt", oneTakesTheDuty},
		{"DutyIsProlongedByTakingItAgain", dutyIsProlonged},
		{"NodeThatDepartsGivesUpItsDutiesAndNoOthers", departedGivesUpDuties},
		{"NowIsTheLedgersTime", nowIsLedgerTime},
	}
}

// alive renews nothing but the node itself.
func (w *world) alive(name, owner string, runs int) ledger.Node {
	w.Helper()
	n := ledger.Node{Name: name, Owner: owner, Since: w.clock.Now(), Lease: short, Runs: runs}
	_, err := w.Renew(w.Context(), n, nil)
	w.must(err)
	n.Seen = w.clock.Now()
	return n
}

func (w *world) nodes() []ledger.Node {
	w.Helper()
	nodes, err := w.Nodes(w.Context())
	w.must(err)
	return nodes
}

func nodeIsAlive(w *world) {
	w.same("nodes at first", 0, len(w.nodes()))
	n := w.alive("host", node, 0)
	w.same("nodes", []ledger.Node{n}, w.nodes())
	w.clock.pass(short - time.Microsecond)
	w.same("nodes before the lease is over", 1, len(w.nodes()))
	w.clock.pass(time.Microsecond)
	w.same("nodes after the lease", 0, len(w.nodes()))
	w.alive("host", node, 0)
	n.Seen = w.clock.Now()
	w.same("nodes once it is back", []ledger.Node{n}, w.nodes())
	w.clock.pass(1000 * time.Hour)
	other := w.alive("other", "node-2", 0)
	w.same("nodes long after", []ledger.Node{other}, w.nodes())
}

func nodeTellsItsRuns(w *world) {
	w.alive("host", node, 0)
	n := w.alive("host", node, 3)
	w.same("nodes", []ledger.Node{n}, w.nodes())
	r := w.driven("r")
	w.renew(node, r)
	w.same("runs", 1, w.nodes()[0].Runs)
}

func twoOfOneName(w *world) {
	first := w.alive("host", "node-b", 0)
	w.clock.pass(time.Second)
	second := w.alive("host", "node-a", 0)
	other := w.alive("a host", "node-c", 0)
	w.same("nodes", []ledger.Node{other, first, second}, w.nodes())
}

func departedIsForgotten(w *world) {
	w.alive("host", node, 0)
	other := w.alive("host", "node-2", 0)
	w.must(w.Depart(w.Context(), node))
	w.must(w.Depart(w.Context(), node))
	w.same("nodes", []ledger.Node{other}, w.nodes())
}

// take tries to have a duty for a short time.
func (w *world) take(duty, owner string) bool {
	w.Helper()
	mine, err := w.Take(w.Context(), duty, ledger.Claimant{Owner: owner, Lease: short})
	w.must(err)
	return mine
}

func dutyBelongsToOne(w *world) {
	w.same("taken", true, w.take("expiry", node))
	w.same("taken by another", false, w.take("expiry", "node-2"))
	w.same("another duty", true, w.take("prune", "node-2"))
	w.clock.pass(short - time.Microsecond)
	w.same("before the lease is over", false, w.take("expiry", "node-2"))
	w.clock.pass(time.Microsecond)
	w.same("after the lease", true, w.take("expiry", "node-2"))
	w.same("by the one before", false, w.take("expiry", node))
}

func oneTakesTheDuty(w *world) {
	for range 3 {
		var have atomic.Int32
		together(20, func(i int) {
			mine, err := w.Take(w.Context(), "expiry", ledger.Claimant{Owner: fmt.Sprintf("node-%d", i), Lease: short})
			if err != nil {
				w.Error(err)
			}
			if mine {
				have.Add(1)
			}
		})
		w.same("nodes that have it", int32(1), have.Load())
		w.clock.pass(short)
	}
}

func dutyIsProlonged(w *world) {
	for range 5 {
		w.same("taken", true, w.take("expiry", node))
		w.clock.pass(short - time.Microsecond)
		w.same("taken by another", false, w.take("expiry", "node-2"))
	}
}

func departedGivesUpDuties(w *world) {
	w.take("expiry", node)
	w.take("prune", "node-2")
	w.must(w.Depart(w.Context(), node))
	w.same("given up", true, w.take("expiry", "node-3"))
	w.same("not given up", false, w.take("prune", "node-3"))
}

func nowIsLedgerTime(w *world) {
	w.clock.pass(1234567 * time.Nanosecond)
	now, err := w.Now(w.Context())
	w.must(err)
	w.same("time", w.clock.Now().Truncate(time.Microsecond).UTC(), now)
	r := w.driven("r")
	events := w.append(r, ledger.Batch{Events: []run.Event{think("x")}})
	w.same("time of an event", w.clock.Now().Truncate(time.Microsecond), events[0].Time)
}
