package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// The ways in which a client asks for a run.
const (
	background = iota
	chat       // detached: the client's leaving changes nothing
	attached   // its client's leaving cancels it
	manners
)

// trip is one run, from the question of its client to the last reader of its events.
type trip struct {
	plan
	manner  int
	cancels time.Duration // after which it is cancelled; 0: never
	dice    *rand.Rand

	created   bool // somebody was told that it exists
	cancelled bool // somebody was told that it is cancelled
	readers   []*reader
}

// newTrip invents the next run of a world.
func (w *world) newTrip() *trip {
	n := len(w.trips)
	dice := rand.New(rand.NewPCG(w.seed, uint64(n)+1000))
	t := &trip{manner: dice.IntN(manners), dice: dice}
	t.plan = plan{run: fmt.Sprintf("run-%d", n), think: dice.IntN(60), slow: dice.IntN(400)}
	for range 2 + dice.IntN(5) {
		step := []string{}
		for range 1 + dice.IntN(2) {
			step = append(step, []string{"charge", "charge", "look", "look", "pay"}[dice.IntN(5)])
		}
		t.steps = append(t.steps, step)
	}
	if dice.IntN(8) == 0 {
		t.cancels = time.Duration(1+dice.IntN(1500)) * time.Millisecond
	}
	return t
}

func (t *trip) body() map[string]any {
	body := map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": t.question()}},
		"user_key": "shop:ann", "stream": t.manner != background,
		"metadata": map[string]any{"run_id": t.run},
	}
	if t.manner == chat {
		body["on_disconnect"] = "continue"
	}
	return body
}

// launch starts a trip, and two clients that read it to its end: one from the start, one that comes late.
func (w *world) launch(ctx context.Context, t *trip) {
	w.trips = append(w.trips, t)
	own := &reader{w: w, run: t.run, dice: rand.New(rand.NewPCG(t.dice.Uint64(), 1))}
	late := &reader{w: w, run: t.run, dice: rand.New(rand.NewPCG(t.dice.Uint64(), 2))}
	canceller := rand.New(rand.NewPCG(t.dice.Uint64(), 3))
	t.readers = []*reader{own, late}
	exists := make(chan struct{})
	w.clients.Go(func() {
		w.create(ctx, t, own)
		close(exists)
		if t.created {
			own.follow(ctx)
		}
	})
	w.clients.Go(func() {
		select {
		case <-exists:
		case <-ctx.Done():
			return
		}
		pause(ctx, time.Duration(late.dice.IntN(1000))*time.Millisecond)
		if t.created {
			late.follow(ctx)
		}
	})
	if t.cancels > 0 {
		w.clients.Go(func() { w.cancel(ctx, t, canceller) })
	}
}

// create asks for the run until somebody says that it exists.
func (w *world) create(ctx context.Context, t *trip, own *reader) {
	if t.manner == background {
		status, raw := w.insist(ctx, t.dice, "POST", "/v1/runs", t.body(), "create-"+t.run)
		if t.created = status == http.StatusOK; !t.created && status != 0 {
			w.violate("create", "%s: %d %s", t.run, status, raw)
		}
		return
	}
	for ctx.Err() == nil {
		if url := w.up(t.dice); url != "" {
			status := own.read(ctx, newRequest(ctx, "POST", url+"/v1/chat/completions", t.body(), "create-"+t.run))
			if status == http.StatusOK {
				t.created = true
				return
			}
			if status != 0 && status < 500 && status != http.StatusTooManyRequests {
				w.violate("create", "%s: %d", t.run, status)
				return
			}
		}
		pause(ctx, breather)
	}
}

// cancel asks for the run's end until somebody says that it is on its way. A run that is not there yet is asked for
// again.
func (w *world) cancel(ctx context.Context, t *trip, dice *rand.Rand) {
	pause(ctx, t.cancels)
	for ctx.Err() == nil {
		status, raw := w.insist(ctx, dice, "POST", "/v1/runs/"+t.run+"/cancel", map[string]any{}, "cancel-"+t.run)
		switch {
		case status == http.StatusOK:
			t.cancelled = strings.Contains(string(raw), `"status":"cancelled"`)
			return
		case status != http.StatusNotFound && status != 0:
			w.violate("cancel", "%s: %d %s", t.run, status, raw)
			return
		}
		pause(ctx, breather)
	}
}

// launchOne starts a background run with these steps, whose effects and answers are some time apart.
func (w *world) launchOne(ctx context.Context, steps ...string) {
	t := w.newTrip()
	t.manner, t.cancels, t.think, t.slow, t.steps = background, 0, 20, 200, nil
	for _, step := range steps {
		t.steps = append(t.steps, []string{step})
	}
	w.launch(ctx, t)
}
