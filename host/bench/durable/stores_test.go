package durable

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/postgres"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/testdata/peers"
)

const (
	hands = 16        // writers, claimants or workers at once
	lease = time.Hour // no benchmark outlives it
)

// text is what an event says.
var text = strings.Repeat("0", 300)

// pair is one ledger as two processes have it: one asks for runs, the other drives them. SQLite's has one process.
type pair struct{ front, back ledger.Ledger }

// onBoth runs a benchmark on a fresh ledger of each driver.
func onBoth(b *testing.B, measure func(b *testing.B, p pair)) {
	b.Run("sqlite", func(b *testing.B) {
		l, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(b.TempDir(), "ledger.db")})
		if err != nil {
			b.Fatal(err)
		}
		defer closed(b, l)
		measure(b, pair{l, l})
	})
	b.Run("postgres", func(b *testing.B) {
		dsn := database(b)
		front, back := openPostgres(b, dsn), openPostgres(b, dsn)
		defer closed(b, front)
		defer closed(b, back)
		warm(b, front)
		warm(b, back)
		measure(b, pair{front, back})
	})
}

func openPostgres(b *testing.B, dsn string) ledger.Ledger {
	b.Helper()
	l, err := postgres.Open(context.Background(), postgres.Config{DSN: dsn, AutoMigrate: true})
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// warm has as many connections opened as there will be: a service has them before anybody comes.
func warm(b *testing.B, l ledger.Ledger) {
	var group sync.WaitGroup
	for range hands {
		group.Go(func() {
			if err := l.Ping(context.Background()); err != nil {
				b.Error(err)
			}
		})
	}
	group.Wait()
}

func closed(b *testing.B, l ledger.Ledger) {
	if err := l.Close(); err != nil {
		b.Error(err)
	}
}

// database starts a server that waits for its disk, and returns where its one empty database is.
func database(b *testing.B) (dsn string) {
	b.Helper()
	server := peers.NeedPostgres(b, peers.PostgresConfig{Durable: true})
	name, err := server.Database("")
	if err != nil {
		b.Fatal(err)
	}
	return server.DSN(name)
}

// queued stores runs that wait for a worker, under names that begin with one of their own.
func queued(b *testing.B, l ledger.Ledger, name string, n int) {
	b.Helper()
	var group sync.WaitGroup
	for hand := range hands {
		group.Go(func() {
			for i := hand; i < n; i += hands {
				create(b, l, fmt.Sprintf("%s-%d", name, i))
			}
		})
	}
	group.Wait()
}

func create(b *testing.B, l ledger.Ledger, id string) {
	r := run.Run{Ref: run.Ref{Tenant: "bench", ID: id}, SessionID: id, Kind: run.Background, Status: run.Queued}
	if _, err := l.Create(context.Background(), r, ledger.Door{}); err != nil {
		b.Error(err)
	}
}

func claimant() ledger.Claimant {
	return ledger.Claimant{Owner: "bench", Kind: run.Background, Lease: lease}
}

func thought() ledger.Batch {
	return ledger.Batch{Events: []run.Event{{Kind: run.Think, Content: text}}}
}

// latencies collects how long each of many things took.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *latencies) since(began time.Time) {
	took := time.Since(began)
	l.mu.Lock()
	l.all = append(l.all, took)
	l.mu.Unlock()
}

// report writes the median and the 99th percentile in milliseconds.
func (l *latencies) report(b *testing.B) {
	slices.Sort(l.all)
	for _, percent := range []int{50, 99} {
		at := l.all[len(l.all)*percent/100]
		b.ReportMetric(float64(at.Microseconds())/1000, fmt.Sprintf("ms/p%d", percent))
	}
}

// rate reports how many things a second were done since then.
func rate(b *testing.B, n int, began time.Time, things string) {
	b.ReportMetric(float64(n)/time.Since(began).Seconds(), things+"/s")
	b.ReportMetric(0, "ns/op")
}
