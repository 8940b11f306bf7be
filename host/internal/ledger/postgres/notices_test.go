package postgres_test

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/postgres"
	"github.com/fastreact/fastreact/host/internal/run"
)

// hears waits for a notice.
func hears(t *testing.T, what string, notice <-chan struct{}) {
	t.Helper()
	select {
	case <-notice:
	case <-time.After(patient):
		t.Fatalf("nobody told of %s", what)
	}
}

// two opens one database twice, as two processes would.
func two(t *testing.T) (here, there *postgres.Ledger, database string) {
	t.Helper()
	home := need(t).database(t)
	dsn, name := home.dsn, home.name
	here, there = open(t, postgres.Config{DSN: dsn, Outbox: true}), open(t, postgres.Config{DSN: dsn, Outbox: true})
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	for _, l := range []*postgres.Ledger{here, there} {
		hears(t, "the start", l.Wake())
		hears(t, "the start", l.Outgoing())
	}
	return here, there, name
}

func TestOneProcessHearsOfWhatAnotherChanged(t *testing.T) {
	t.Parallel()
	here, there, _ := two(t)
	r := driven(t, here, "r")
	notice, stop := there.Watch(r.Ref)
	defer stop()
	if _, err := here.Append(t.Context(), r.Fence(), thought("x")); err != nil {
		t.Fatal(err)
	}
	hears(t, "an event", notice)
	if got := texts(t, there, r.Ref); len(got) != 1 {
		t.Errorf("it finds %v", got)
	}
	if _, err := here.Cancel(t.Context(), r.Ref, ledger.Cancellation{Reason: "changed my mind"}); err != nil {
		t.Fatal(err)
	}
	hears(t, "a cancel", there.Wake())
}

func TestWhoMayHaveMissedSomethingIsToldToLook(t *testing.T) {
	t.Parallel()
	here, there, name := two(t)
	r := driven(t, here, "r")
	notice, stop := there.Watch(r.Ref)
	defer stop()
	// The listeners' connections are cut. Nobody knows what would have been heard until there are new ones.
	sql(t, "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"' AND application_name = 'fastreact' AND query LIKE 'LISTEN%'")
	hears(t, "a connection that was lost", notice)
}

// hush passes connections on to a server. Those that were there when it fell silent get no answer any more, and are not
// closed; new ones do.
type hush struct {
	net.Listener
	target    string
	silences  atomic.Int64
	swallowed atomic.Int64 // bytes
}

func (h *hush) pass(client net.Conn) {
	server, err := net.Dial("tcp", h.target)
	if err != nil {
		_ = client.Close()
		return
	}
	defer func() { _, _ = client.Close(), server.Close() }()
	go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
	_, _ = io.Copy(&mouth{Writer: client, hush: h, since: h.silences.Load()}, server)
}

// mouth is one connection's way back.
type mouth struct {
	io.Writer
	hush  *hush
	since int64
}

func (m *mouth) Write(b []byte) (int, error) {
	if m.hush.silences.Load() > m.since {
		m.hush.swallowed.Add(int64(len(b)))
		return len(b), nil
	}
	return m.Writer.Write(b)
}

func TestNoticeLostOnASilentConnectionIsMadeGoodByAsking(t *testing.T) {
	t.Parallel()
	home := need(t).database(t)
	h := &hush{target: need(t).server.Addr}
	h.Listener = accepting(t, h.pass)
	dsn := "postgres://fastreact:canary-pass@" + h.Addr().String() + "/" + home.name + "?sslmode=disable"
	here, there := open(t, postgres.Config{DSN: home.dsn}), open(t, postgres.AskingAfter(time.Second, postgres.Config{DSN: dsn}))
	defer func() { _, _ = here.Close(), there.Close() }()
	r := driven(t, here, "r")
	hears(t, "the start", there.Wake())
	h.silences.Add(1)
	notice, stop := there.Watch(r.Ref)
	defer stop()
	if _, err := here.Append(t.Context(), r.Fence(), thought("x")); err != nil {
		t.Fatal(err)
	}
	hears(t, "an event", notice)
	if got := texts(t, there, r.Ref); len(got) != 1 || h.swallowed.Load() == 0 {
		t.Errorf("it finds %v, %d bytes were lost", got, h.swallowed.Load())
	}
}

func TestHundredsOfChangesAreToldInFewWords(t *testing.T) {
	t.Parallel()
	here, there, _ := two(t)
	var notices []<-chan struct{}
	var group sync.WaitGroup
	for i := range 200 {
		of := run.Ref{Tenant: "t", ID: fmt.Sprint("r", i)}
		notice, stop := there.Watch(of)
		defer stop()
		notices = append(notices, notice)
	}
	for part := range 8 {
		group.Go(func() {
			for i := part; i < 200; i += 8 {
				driven(t, here, fmt.Sprint("r", i))
			}
		})
	}
	group.Wait()
	for i, notice := range notices {
		hears(t, fmt.Sprint("run ", i), notice)
	}
}

// TestSixteenWritersOnTwoProcessesHurtNobody has them do everything that locks more than one row.
func TestSixteenWritersOnTwoProcessesHurtNobody(t *testing.T) {
	t.Parallel()
	here, there, name := two(t)
	runs := make([]run.Run, 4)
	for i := range runs {
		runs[i] = driven(t, here, fmt.Sprint("r", i))
	}
	var group sync.WaitGroup
	for i := range 16 {
		l := here
		if i%2 == 1 {
			l = there
		}
		group.Go(func() {
			for j := range 8 {
				r := runs[(i+j)%len(runs)]
				batch := thought(fmt.Sprint(i, " ", j))
				batch.Approvals = []run.Approval{{ID: fmt.Sprint("a", i, "-", j), Run: r.Ref, ExpiresAt: time.Now().Add(time.Hour)}}
				batch.Audits = []run.Audit{{Stage: run.Decided}}
				if _, err := l.Append(t.Context(), r.Fence(), batch); err != nil {
					t.Error(err)
				}
				answer := run.Resolution{ID: batch.Approvals[0].ID, Status: run.Denied, By: "ops"}
				if _, _, err := l.Resolve(t.Context(), answer); err != nil {
					t.Error(err)
				}
				if _, err := l.Renew(t.Context(), ledger.Node{Owner: "node/1", Lease: time.Hour}, fences(runs)); err != nil {
					t.Error(err)
				}
				if _, err := l.Audits(t.Context(), nil, 0, 10); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for _, r := range runs {
		if got := len(texts(t, there, r.Ref)); got != 32 {
			t.Errorf("%d events", got)
		}
	}
	sql(t, "postgres", "SELECT pg_stat_force_next_flush()")
	if met := sql(t, "postgres", "SELECT deadlocks FROM pg_stat_database WHERE datname = '"+name+"'"); met != "0" {
		t.Errorf("%s deadlocks", met)
	}
}

func fences(runs []run.Run) []run.Fence {
	var all []run.Fence
	for _, r := range runs {
		all = append(all, r.Fence())
	}
	return all
}
