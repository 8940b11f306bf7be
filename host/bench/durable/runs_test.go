package durable

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

const (
	runs         = 1000
	eventsPerRun = 10 // the last one ends the run
)

// BenchmarkThousandRuns lets sixteen workers finish a thousand waiting runs of ten events. River does the same, its
// jobs writing rows of the same size, as it comes and with the shortest pause between two fetches that it allows.
func BenchmarkThousandRuns(b *testing.B) {
	onBoth(b, func(b *testing.B, p pair) {
		for round := range b.N {
			b.StopTimer()
			queued(b, p.front, fmt.Sprintf("round-%d", round), runs)
			b.StartTimer()
			began := time.Now()
			finishAll(b, p.back)
			rate(b, runs, began, "runs")
		}
	})
	b.Run("river", func(b *testing.B) { riversRuns(b, 0) })
	b.Run("river-hurried", func(b *testing.B) { riversRuns(b, time.Millisecond) })
}

func finishAll(b *testing.B, l ledger.Ledger) {
	var group sync.WaitGroup
	for range hands {
		group.Go(func() {
			for {
				r, err := l.Claim(context.Background(), claimant())
				if errors.Is(err, ledger.ErrEmpty) {
					return
				}
				if err == nil {
					err = finish(l, r)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func finish(l ledger.Ledger, r run.Run) error {
	for i := range eventsPerRun {
		batch := thought()
		if i == eventsPerRun-1 {
			batch.Finish = &ledger.Finish{Status: run.Completed}
		}
		if _, err := l.Append(context.Background(), r.Fence(), batch); err != nil {
			return err
		}
	}
	return nil
}
