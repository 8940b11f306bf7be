package gateway

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Everybody does everything at once. What must hold in the end: sequences grow without a hole, no more is kept than
// allowed, and a key that came many times was executed at most once for each time that its ring was cleared or turned.
func TestManyClientsAtOnceNeverSeeARingOutOfOrder(t *testing.T) {
	w := newWorld(t)
	w.research.released = true
	w.cfg.Limits = Limits{Calls: 16, Events: 40, Turns: 4}
	g := w.open()
	g.cfg.Research = everybody{}
	keys := make([]string, 8)
	for i := range keys {
		keys[i] = run.NewUUID()
	}
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := range 40 {
				hammer(t, g, client*40+i, keys)
			}
		})
	}
	clients.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.shelf; len(s.entries) > 16 || len(s.results) != len(s.entries) || len(s.turns) > 4 || len(g.running) > 0 {
		t.Errorf("%d calls, %d results, %d turns, %d under way", len(s.entries), len(s.results), len(s.turns), len(g.running))
	}
}

// everybody has granted everything.
type everybody struct{}

func (everybody) Released(context.Context, string, string) (bool, error) { return true, nil }

// hammer does one thing of many, and looks at a page.
func hammer(t *testing.T, g *Gateway, i int, keys []string) {
	ctx := context.Background()
	switch i % 5 {
	case 0:
		r := search()
		r.Key = keys[i%len(keys)]
		reply, err := g.Call(ctx, r)
		if err == nil {
			_, err = g.Result(reply.ResultID)
		}
		tolerate(t, err, CodeCapacity, CodeResultUnknown)
	case 1:
		turn, err := g.Start(ctx, fmt.Sprintf("objective %d", i))
		tolerate(t, err, CodeCapacity)
		if err == nil {
			_, err = g.Resume(ctx, turn.ID)
			tolerate(t, err, CodeTurnUnknown, CodeTurnNotWaiting)
		}
	case 2:
		tolerate(t, g.Activate([]string{harbour, orchard}[i/5%2]))
	case 3:
		g.Catalog(ctx)
	default:
		_, err := g.Call(ctx, search())
		tolerate(t, err, CodeCapacity)
	}
	wantInOrder(t, g.Events(0))
}

func tolerate(t *testing.T, err error, codes ...run.Code) {
	t.Helper()
	for _, code := range codes {
		if run.IsCode(err, code) {
			return
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// wantInOrder holds that a page has no hole and is no longer than allowed.
func wantInOrder(t *testing.T, page Page) {
	t.Helper()
	if len(page.Events) > 40 {
		t.Errorf("%d events are kept", len(page.Events))
	}
	for i, e := range page.Events {
		if i > 0 && e.Sequence != page.Events[i-1].Sequence+1 || e.Sequence > page.Cursor {
			t.Errorf("event %d follows %d, cursor %d", e.Sequence, page.Events[max(i-1, 0)].Sequence, page.Cursor)
		}
	}
}
