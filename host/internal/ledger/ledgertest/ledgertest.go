// Package ledgertest is the contract of every ledger driver. A driver that passes Run keeps the promises of package
// ledger; what is particular to one driver, such as its files, is tested beside it.
package ledgertest

import (
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
)

// Opener opens one and the same store, again after the last ledger of it was closed. clock is the ledger's
// time. It keeps an outbox.
type Opener func(t *testing.T, clock func() time.Time) ledger.Ledger

// Run runs the contract. empty makes a store that holds nothing and returns how to open it; it is called once for
// each test, and the tests run in parallel.
func Run(t *testing.T, empty func(t *testing.T) Opener) {
	for _, part := range [][]fact{
		runFacts(), doorFacts(), claimFacts(), leaseFacts(), barrenFacts(), cancelFacts(), endingFacts(),
		clusterFacts(), logFacts(), contentFacts(), batchFacts(), noticeFacts(),
		sessionFacts(), approvalFacts(), answerFacts(), choiceFacts(), outboxFacts(), pairFacts(), feedbackFacts(),
		researchFacts(), noteFacts(), bookFacts(), pruneFacts(), closeFacts(),
	} {
		for _, f := range part {
			t.Run(f.sentence, func(t *testing.T) {
				t.Parallel()
				f.prove(newWorld(t, empty(t)))
			})
		}
	}
}

// fact is one sentence of the contract and its proof.
type fact struct {
	sentence string
	prove    func(*world)
}
