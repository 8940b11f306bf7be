package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/postgres"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/testdata/peers"
)

// patient bounds a wait that a broken driver would never end.
const patient = time.Minute

// driven returns a run that this process drives.
func driven(t *testing.T, l *postgres.Ledger, id string) run.Run {
	t.Helper()
	r, err := l.Create(t.Context(), run.Run{
		Ref: run.Ref{Tenant: "t", ID: id}, SessionID: "s-" + id, Kind: run.Chat, Status: run.Running, Owner: "node/1", Epoch: 1, Attempts: 1,
		Request: run.Request{ID: id},
	}, ledger.Door{Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func thought(text string) ledger.Batch {
	return ledger.Batch{Events: []run.Event{{Kind: run.Think, Content: text}}}
}

func texts(t *testing.T, l *postgres.Ledger, of run.Ref) []string {
	t.Helper()
	events, err := l.Events(t.Context(), of, -1, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, e := range events {
		if e.Sequence != int64(i) {
			t.Fatalf("event %d has sequence %d", i, e.Sequence)
		}
		all = append(all, e.Content)
	}
	return all
}

func public(t *testing.T, err error) {
	t.Helper()
	var told *run.Error
	if !errors.As(err, &told) || told.Code != run.CodeStore || told.Sentence == "" {
		t.Errorf("the error has no public face: %v", err)
	}
}

// TestWhatWasAcknowledgedOutlivesCrashesOfTheServer has a writer go on through three of them, each of its texts until
// it is acknowledged or refused. A text that was refused may be there or not, but none is there twice.
func TestWhatWasAcknowledgedOutlivesCrashesOfTheServer(t *testing.T) {
	t.Parallel()
	server := peers.NeedPostgres(t, peers.PostgresConfig{})
	l := open(t, postgres.Config{DSN: server.DSN("postgres"), ConnectTimeout: time.Second})
	defer func() { _ = l.Close() }()
	r := driven(t, l, "r")
	var acknowledged []string
	var taken, refused atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			text := fmt.Sprint(i)
			if _, err := l.Append(context.Background(), r.Fence(), thought(text)); err != nil {
				public(t, err)
				refused.Add(1)
				continue
			}
			acknowledged = append(acknowledged, text)
			taken.Add(1)
		}
	}()
	for range 3 {
		before := taken.Load()
		await(t, "a write that works", func() bool { return taken.Load() > before+10 })
		server.Crash()
		public(t, l.Ping(t.Context()))
		if err := server.Continue(); err != nil {
			t.Fatal(err)
		}
	}
	before := taken.Load()
	await(t, "a write that works again", func() bool { return taken.Load() > before })
	close(stop)
	<-stopped
	there := map[string]int{}
	for _, text := range texts(t, l, r.Ref) {
		there[text]++
	}
	for _, text := range acknowledged {
		if there[text] != 1 {
			t.Errorf("%s was acknowledged and is there %d times", text, there[text])
		}
	}
	for text, times := range there {
		if times != 1 {
			t.Errorf("%s is there %d times", text, times)
		}
	}
	t.Logf("%d acknowledged, %d refused, %d there", len(acknowledged), refused.Load(), len(there))
	t.Run("a number that was given twice", func(t *testing.T) { askAfterACrash(t, server) })
}

// askAfterACrash loses a transaction with its number, which the server then gives to one that commits.
func askAfterACrash(t *testing.T, server *peers.Postgres) {
	cfg := postgres.Config{DSN: server.DSN("postgres")}
	number := func(conn *pgx.Conn) (xid string, at int64) {
		const ask = `SELECT CAST(pg_current_xact_id() AS TEXT), CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`
		if err := conn.QueryRow(t.Context(), ask).Scan(&xid, &at); err != nil {
			t.Fatal(err)
		}
		return xid, at
	}
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), cfg.DSN)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	before := connect()
	await(t, "a second in which no checkpoint began", func() (later bool) {
		const ask = `SELECT checkpoint_time < date_trunc('second', clock_timestamp()) FROM pg_control_checkpoint()`
		if err := before.QueryRow(t.Context(), ask).Scan(&later); err != nil {
			t.Fatal(err)
		}
		return later
	})
	kept, at := number(before)
	if again, err := postgres.Fate(t, cfg, kept, at); err != nil || again {
		t.Errorf("of a commit it says %v", err)
	}
	if _, err := before.Exec(t.Context(), `BEGIN`); err != nil {
		t.Fatal(err)
	}
	lost, at := number(before)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	for twin, after := "", connect(); twin != lost; twin, _ = number(after) {
		if twin > lost && len(twin) >= len(lost) {
			t.Fatalf("number %s was not given again: %s", lost, twin)
		}
	}
	if again, err := postgres.Fate(t, cfg, lost, at); err == nil || !again {
		t.Errorf("a write that was lost in a crash counts as done: %v", err)
	}
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	late := time.After(patient)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("no %s", what)
		}
	}
}

// cutter passes bytes on to a server, and cuts connections when it is armed: while the answer to COMMIT is on its
// way, or in the middle of a transaction.
type cutter struct {
	net.Listener
	target string
	at     string       // the server's word at which it cuts
	armed  atomic.Int64 // that many connections
	cuts   atomic.Int64
}

const (
	atCommit = "COMMIT\x00" // it was done, and nobody hears of it
	midway   = "BEGIN\x00"  // nothing that follows arrives
)

func newCutter(t *testing.T, target, at string) *cutter {
	t.Helper()
	c := &cutter{target: target, at: at}
	c.Listener = accepting(t, c.pass)
	return c
}

// accepting serves connections until the test ends.
func accepting(t *testing.T, serve func(client net.Conn)) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(client)
		}
	}()
	return listener
}

func (c *cutter) pass(client net.Conn) {
	server, err := net.Dial("tcp", c.target)
	if err != nil {
		_ = client.Close()
		return
	}
	var deaf atomic.Bool
	end := func() { _, _ = client.Close(), server.Close() }
	go func() {
		defer end()
		copyWhile(server, client, func([]byte) bool { return !deaf.Load() })
	}()
	defer end()
	copyWhile(client, server, func(answer []byte) bool {
		if !bytes.Contains(answer, []byte(c.at)) || bytes.Contains(answer, []byte("SET\x00")) { // that is a notification's
			return true
		}
		if !c.fires() {
			return true
		}
		c.cuts.Add(1)
		deaf.Store(true)
		return c.at != atCommit
	})
}

// fires reports whether one more connection is to be cut.
func (c *cutter) fires() bool {
	for n := c.armed.Load(); n > 0; n = c.armed.Load() {
		if c.armed.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// copyWhile copies until something fails or goes says no.
func copyWhile(to io.Writer, from io.Reader, goes func([]byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !goes(buffer[:n]) {
			return
		}
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

func TestWriteWhoseAnswerIsLostIsDoneOnce(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{"at the commit": atCommit, "before it": midway} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := need(t).database(t).name
			server := need(t).server
			wire := newCutter(t, server.Addr, at)
			l := open(t, postgres.Config{DSN: "postgres://fastreact@" + wire.Addr().String() + "/" + database + "?sslmode=disable"})
			defer func() { _ = l.Close() }()
			r := driven(t, l, "r")
			var want []string
			for i := range 10 {
				text := fmt.Sprint(i)
				want = append(want, text)
				wire.armed.Store(1)
				if _, err := l.Append(t.Context(), r.Fence(), thought(text)); err != nil {
					t.Fatal(err)
				}
				if wire.armed.Swap(0) > 0 {
					t.Fatal("nothing was cut")
				}
			}
			if diff := cmp.Diff(want, texts(t, l, r.Ref)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWritersThatAllLoseTheirAnswersLearnWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	database := need(t).database(t).name
	wire := newCutter(t, need(t).server.Addr, atCommit)
	l := open(t, postgres.Config{
		DSN: "postgres://fastreact@" + wire.Addr().String() + "/" + database + "?sslmode=disable", MaxConnections: 3,
	})
	defer func() { _ = l.Close() }()
	writers := []run.Run{driven(t, l, "a"), driven(t, l, "b")}
	wire.armed.Store(int64(len(writers)))
	answers := make(chan error, len(writers))
	for _, r := range writers {
		go func() {
			_, err := l.Append(context.Background(), r.Fence(), thought(r.ID))
			answers <- err
		}()
	}
	for range writers {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	for _, r := range writers {
		if diff := cmp.Diff([]string{r.ID}, texts(t, l, r.Ref)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}
}

func TestDatabaseThatBecomesReadOnlyIsReportedAndForgotten(t *testing.T) {
	t.Parallel()
	dsn, name := bare(t)
	l := open(t, postgres.Config{DSN: dsn})
	defer func() { _ = l.Close() }()
	// A connection goes on in its mode until the server has ended it, which takes a moment.
	turn := func(mode string) {
		sql(t, "postgres", "ALTER DATABASE "+name+" SET default_transaction_read_only = "+mode+
			"; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"' AND application_name = 'fastreact'")
	}
	turn("on")
	await(t, "word that nothing can be written", func() bool {
		err := l.Ping(t.Context())
		if err != nil {
			public(t, err)
		}
		_, sentence := run.Public(err)
		return sentence == "The storage of the service cannot be written to. Try again later."
	})
	turn("off")
	await(t, "write that works again", func() bool { return l.Ping(t.Context()) == nil })
}
