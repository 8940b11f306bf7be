package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/testdata/peers"
)

// postgres is some nodes on one database, each with a network of its own to it.
type postgres struct {
	size    int
	server  *peers.Postgres
	others  bool // on the server, which must not end
	base    string
	proxies []*proxy
}

// alone is some nodes on a server of their own.
func alone(t *testing.T, size int) *postgres {
	t.Helper()
	return &postgres{size: size, server: peers.NeedPostgres(t, peers.PostgresConfig{})}
}

// common is the server of all worlds that have none of their own; stopCommon ends it.
var (
	common = sync.OnceValues(func() (*peers.Postgres, error) {
		server, err := peers.StartPostgres(peers.PostgresConfig{})
		if err == nil {
			stopCommon = server.Stop
		}
		return server, err
	})
	stopCommon = func() error { return nil }
)

// shared is some nodes on a database beside those of other worlds.
func shared(t *testing.T, size int) *postgres {
	t.Helper()
	server, err := common()
	if errors.Is(err, peers.ErrMissing) {
		peers.Missing(t, "PostgreSQL")
	}
	if err != nil {
		t.Fatal(err)
	}
	return &postgres{size: size, server: server, others: true}
}

func (p *postgres) name() string { return "postgres" }
func (p *postgres) nodes() int   { return p.size }

// prepare makes a database for a world, and the networks.
func (p *postgres) prepare(w *world) {
	base, err := p.server.Database("")
	if err != nil {
		w.t.Fatal(err)
	}
	p.base = base
	p.proxies = nil
	for range p.size {
		network, err := newProxy(p.server.Addr)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(network.close)
		p.proxies = append(p.proxies, network)
	}
}

func (p *postgres) config(w *world, i int) string {
	variable := fmt.Sprintf("CHAOS_DSN_%d", i)
	w.env = append(w.env, variable+"=postgres://fastreact@"+p.proxies[i].listener.Addr().String()+"/"+p.base+"?sslmode=disable")
	return "driver: postgres, dsn_env: " + variable
}

func (p *postgres) faults() []fault {
	all := []fault{
		{"one node cut off", p.cutOff},
		{"one node cut off in silence", p.silent},
		{"all nodes cut off", p.allCutOff},
		{"read-only database", p.readOnly},
		{"a long transaction", p.longTransaction},
	}
	if p.others {
		return all
	}
	return append(all, fault{"restart of the database", p.restarted})
}

func (p *postgres) restarted(_ context.Context, w *world) {
	w.fault("the database ends at once, and is started again")
	if err := p.server.Restart(); err != nil {
		w.violate("harness", "%v", err)
	}
}

func (p *postgres) cutOff(ctx context.Context, w *world) {
	i := w.roll(p.size)
	w.fault("node-%d is cut off", i+1)
	p.proxies[i].cut()
	pause(ctx, w.between(time.Second, lease+2*time.Second))
	p.proxies[i].mend()
	w.fault("node-%d is reached again", i+1)
}

func (p *postgres) silent(ctx context.Context, w *world) {
	i := w.roll(p.size)
	w.fault("node-%d hears nothing", i+1)
	p.proxies[i].stall()
	pause(ctx, lease+w.between(500*time.Millisecond, 2*time.Second))
	p.proxies[i].mend()
	w.fault("node-%d hears again", i+1)
}

func (p *postgres) allCutOff(ctx context.Context, w *world) {
	w.fault("all nodes are cut off")
	for _, network := range p.proxies {
		network.cut()
	}
	pause(ctx, w.between(time.Second, lease+2*time.Second))
	for _, network := range p.proxies {
		network.mend()
	}
	w.fault("all nodes are reached again")
}

func (p *postgres) readOnly(ctx context.Context, w *world) {
	w.fault("the database takes no writes")
	turn := func(to string) {
		_, err := p.server.SQL("postgres", "ALTER DATABASE "+p.base+" SET default_transaction_read_only = "+to+
			"; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+p.base+"'")
		if err != nil {
			w.violate("harness", "%v", err)
		}
	}
	turn("on")
	pause(ctx, w.between(500*time.Millisecond, 2*time.Second))
	turn("off")
	w.fault("the database takes writes")
}

func (p *postgres) longTransaction(ctx context.Context, w *world) {
	w.fault("somebody holds the rows of all runs under way")
	held := w.between(500*time.Millisecond, 2*time.Second).Seconds()
	_, err := p.server.SQL(p.base, fmt.Sprintf(
		"BEGIN; UPDATE runs SET next_seq = next_seq WHERE finished_at IS NULL; SELECT pg_sleep(%f); ROLLBACK", held))
	w.fault("the rows are free: %v", err)
}
