package relational_test

import (
	"testing"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestStoppedWatchersLeaveNothing(t *testing.T) {
	n := relational.NewNotices()
	for range 100 {
		_, stop := n.Watch(run.Ref{ID: "r"})
		_, stopOther := n.Watch(run.Ref{ID: "other"})
		stop()
		stopOther()
	}
	if watched := n.Watched(); watched != 0 {
		t.Errorf("%d runs are still watched", watched)
	}
}
