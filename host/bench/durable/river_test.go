package durable

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// job is a run as River has it.
type job struct {
	Number int `json:"number"`
}

// Kind is the job's name.
func (job) Kind() string { return "run" }

// worker writes the events of a run.
type worker struct {
	river.WorkerDefaults[job]
	pool   *pgxpool.Pool
	events int
	done   func(job)
}

// Work does one job.
func (w *worker) Work(ctx context.Context, j *river.Job[job]) error {
	defer w.done(j.Args)
	for i := range w.events {
		if _, err := w.pool.Exec(ctx, "INSERT INTO event (run, sequence, content) VALUES ($1, $2, $3)", j.ID, i, text); err != nil {
			return err
		}
	}
	return nil
}

// flow opens River on an empty database. A cooldown of 0 is River's own.
func flow(b *testing.B, w *worker, cooldown time.Duration) *river.Client[pgx.Tx] {
	b.Helper()
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(database(b))
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = hands + 4 // one for each worker, and what River itself needs
	if w.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.pool.Close)
	driver := riverpgxv5.New(w.pool)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		b.Fatal(err)
	}
	const table = "CREATE TABLE event (run BIGINT, sequence INT, content TEXT, PRIMARY KEY (run, sequence))"
	if _, err := w.pool.Exec(ctx, table); err != nil {
		b.Fatal(err)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(driver, &river.Config{
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: hands}},
		Workers: workers, FetchCooldown: cooldown, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	return client
}

// begin lets River work until the benchmark is over.
func begin(b *testing.B, client *river.Client[pgx.Tx]) {
	b.Helper()
	if err := client.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := client.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	})
}

// riversRuns counts the time until every job of a thousand has written its events; that River records the last ends
// a little later is not counted.
func riversRuns(b *testing.B, cooldown time.Duration) {
	var left atomic.Int64
	over := make(chan struct{}, 1)
	w := &worker{events: eventsPerRun, done: func(job) {
		if left.Add(-1) == 0 {
			over <- struct{}{}
		}
	}}
	client := flow(b, w, cooldown)
	for i := range b.N {
		b.StopTimer()
		left.Store(runs)
		jobs := make([]river.InsertManyParams, runs)
		for n := range jobs {
			jobs[n].Args = job{Number: n}
		}
		if _, err := client.InsertMany(context.Background(), jobs); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		began := time.Now()
		if i == 0 {
			begin(b, client)
		}
		<-over
		rate(b, runs, began, "runs")
	}
}

// BenchmarkStartOfRiver measures what BenchmarkStart does: from the call that stores a job to the worker that has it.
func BenchmarkStartOfRiver(b *testing.B) {
	for _, c := range []struct {
		name     string
		cooldown time.Duration
	}{{"river", 0}, {"river-hurried", time.Millisecond}} {
		b.Run(c.name, func(b *testing.B) {
			started := make(chan struct{})
			client := flow(b, &worker{done: func(job) { started <- struct{}{} }}, c.cooldown)
			begin(b, client)
			var taken latencies
			b.ResetTimer()
			for i := range b.N {
				asked := time.Now()
				if _, err := client.Insert(context.Background(), job{Number: i}, nil); err != nil {
					b.Fatal(err)
				}
				<-started
				taken.since(asked)
			}
			b.ReportMetric(0, "ns/op")
			taken.report(b)
		})
	}
}
