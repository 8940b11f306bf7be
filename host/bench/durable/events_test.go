package durable

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// BenchmarkEvents appends events to sixteen runs at once, each event in a batch of its own.
func BenchmarkEvents(b *testing.B) {
	onBoth(b, func(b *testing.B, p pair) {
		fences := driven(b, p.back, hands)
		var taken latencies
		var next atomic.Int64
		var group sync.WaitGroup
		b.ResetTimer()
		began := time.Now()
		for _, fence := range fences {
			group.Go(func() {
				for next.Add(1) <= int64(b.N) {
					asked := time.Now()
					if _, err := p.back.Append(context.Background(), fence, thought()); err != nil {
						b.Error(err)
						return
					}
					taken.since(asked)
				}
			})
		}
		group.Wait()
		rate(b, b.N, began, "events")
		taken.report(b)
	})
}

// driven returns the fences of runs that were claimed.
func driven(b *testing.B, l ledger.Ledger, n int) []run.Fence {
	b.Helper()
	queued(b, l, "run", n)
	fences := make([]run.Fence, n)
	for i := range fences {
		r, err := l.Claim(context.Background(), claimant())
		if err != nil {
			b.Fatal(err)
		}
		fences[i] = r.Fence()
	}
	return fences
}

// BenchmarkClaims takes waiting runs out of the queue, sixteen at once, and ends each at once: a service drives a few
// runs, not thousands.
func BenchmarkClaims(b *testing.B) {
	onBoth(b, func(b *testing.B, p pair) {
		queued(b, p.front, "run", b.N)
		var group sync.WaitGroup
		b.ResetTimer()
		began := time.Now()
		for range hands {
			group.Go(func() {
				for {
					r, err := p.back.Claim(context.Background(), claimant())
					if errors.Is(err, ledger.ErrEmpty) {
						return
					}
					if err == nil {
						end := ledger.Batch{Finish: &ledger.Finish{Status: run.Completed}}
						_, err = p.back.Append(context.Background(), r.Fence(), end)
					}
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		rate(b, b.N, began, "claims+ends")
	})
}

// BenchmarkStart measures from the call that stores a run to the claim that drives it. The worker is idle, and on
// PostgreSQL it is another process's.
func BenchmarkStart(b *testing.B) {
	onBoth(b, func(b *testing.B, p pair) {
		started := make(chan struct{})
		ctx, stop := context.WithCancel(context.Background())
		var group sync.WaitGroup
		group.Go(func() {
			for ctx.Err() == nil {
				if _, err := p.back.Claim(ctx, claimant()); err == nil {
					started <- struct{}{}
					continue
				}
				select {
				case <-p.back.Wake():
				case <-ctx.Done():
				}
			}
		})
		var taken latencies
		b.ResetTimer()
		for i := range b.N {
			asked := time.Now()
			create(b, p.front, fmt.Sprintf("run-%d", i))
			<-started
			taken.since(asked)
		}
		b.StopTimer()
		stop()
		group.Wait()
		b.ReportMetric(0, "ns/op")
		taken.report(b)
	})
}

// BenchmarkTail measures from the call that appends an event to the reader who waits for it and has read it. On
// PostgreSQL the reader is another process's.
func BenchmarkTail(b *testing.B) {
	onBoth(b, func(b *testing.B, p pair) {
		fence := driven(b, p.back, 1)[0]
		notice, leave := p.front.Watch(fence.Ref)
		defer leave()
		var taken latencies
		b.ResetTimer()
		for i := range b.N {
			read := make(chan error, 1)
			go func() { read <- readOn(p.front, fence.Ref, int64(i), notice) }()
			asked := time.Now()
			if _, err := p.back.Append(context.Background(), fence, thought()); err != nil {
				b.Fatal(err)
			}
			if err := <-read; err != nil {
				b.Fatal(err)
			}
			taken.since(asked)
		}
		b.ReportMetric(0, "ns/op")
		taken.report(b)
	})
}

// readOn waits until an event is there.
func readOn(l ledger.Ledger, ref run.Ref, sequence int64, notice <-chan struct{}) error {
	for {
		events, err := l.Events(context.Background(), ref, sequence-1, 1)
		if err != nil || len(events) > 0 {
			return err
		}
		select {
		case <-notice:
		case <-time.After(time.Minute):
			return errors.New("nobody tells the reader")
		}
	}
}
