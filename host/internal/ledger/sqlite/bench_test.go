package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

// BenchmarkAppend measures acknowledged events, one to a batch.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) { benchmarkAppend(b, writers) })
	}
}

func benchmarkAppend(b *testing.B, writers int) {
	ctx := context.Background()
	l, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(b.TempDir(), "ledger.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a benchmark's ledger is thrown away
	event := run.Event{Kind: run.Think, Content: fmt.Sprintf("%0300d", 7)}
	batch := ledger.Batch{Events: []run.Event{event}}
	fences := make([]run.Fence, writers)
	for i := range fences {
		r := run.Run{
			Ref: run.Ref{ID: fmt.Sprintf("run-%d", i)}, Kind: run.Background, Status: run.Running, Owner: "bench",
			Epoch: 1,
		}
		if _, err := l.Create(ctx, r, ledger.Door{Lease: time.Hour}); err != nil {
			b.Fatal(err)
		}
		fences[i] = r.Fence()
	}
	work := make(chan struct{}, b.N)
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	var group sync.WaitGroup
	start := time.Now()
	b.ResetTimer()
	for _, fence := range fences {
		group.Go(func() {
			for range work {
				if _, err := l.Append(ctx, fence, batch); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "events/s")
}
