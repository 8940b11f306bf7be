package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fault is something that may be done to a world.
type fault struct {
	name string
	do   func(context.Context, *world)
}

func decode(raw []byte, into any) bool { return json.Unmarshal(raw, into) == nil }

// storm lets a world work while one fault follows the other, and then waits until it has come to rest.
func (w *world) storm(rounds int, do func(ctx context.Context, round int)) (report string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(5+rounds)*time.Minute)
	defer stop()
	people, dismiss := context.WithCancel(ctx)
	var desk sync.WaitGroup
	desk.Go(func() { w.people(people) })
	for round := range rounds {
		for range 3 + w.roll(4) {
			w.launch(ctx, w.newTrip())
		}
		do(ctx, round)
	}
	go func() { w.awaitCalm(ctx); stop() }()
	w.clients.Wait()
	w.measuring.Wait()
	dismiss()
	desk.Wait()
	looking, enough := context.WithTimeout(context.Background(), 5*time.Minute)
	defer enough()
	ended := w.check(looking)
	w.rest()
	return w.report(ended)
}

// rest ends every node politely and looks for what is left of them.
func (w *world) rest() {
	for _, n := range w.nodes {
		n.signal(syscall.SIGTERM)
	}
	limit := time.After(15 * time.Second)
	for _, n := range w.nodes {
		select {
		case <-n.gone():
		case <-limit:
			w.violate("drain", "%s does not end", n.name)
			return
		}
	}
	for until := time.Now().Add(10 * time.Second); ; pause(context.Background(), forGood) {
		left := w.left()
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			w.violate("process left", "%v", left)
			return
		}
	}
}

// strikes is one round: whatever the seed chooses.
func (w *world) strikes(ctx context.Context, _ int) {
	special := w.driver.faults()
	switch dice := w.roll(12); {
	case dice < 4:
		w.killAtRandom(ctx)
	case dice < 9:
		all := usual()
		w.killAtPoint(ctx, w.any(), all[w.roll(len(all))], strconv.Itoa(1+w.roll(3)), 2*time.Second)
	case dice < 10:
		w.stop(ctx, w.any(), lease+w.between(500*time.Millisecond, 1500*time.Millisecond))
	case dice < 11 && len(special) > 0:
		one := special[w.roll(len(special))]
		w.count(func(t *tally) { t.faults[one.name]++ })
		one.do(ctx, w)
	default:
		w.rolling(ctx)
	}
}

// asked reads a number that somebody asks for.
func asked(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What may be asked for: a seed to try again, so many faults in each world, and so many kills at random in all worlds
// of a driver.
const (
	envSeed   = "FASTREACT_CHAOS_SEED"
	envRounds = "FASTREACT_CHAOS_ROUNDS"
	envKills  = "FASTREACT_CHAOS_KILLS"
)

// few is how many faults a world sees that nobody asked for more.
const few = 2

// bounded reports that nobody asked for more: then each rule is shown once, on the store where that costs less, and
// seeds that nobody has tried, lists of all failpoints and third nodes are for whoever has the time.
func bounded(t *testing.T) bool {
	t.Helper()
	return asked(t, envRounds, few) <= few && asked(t, envKills, 0) == 0
}

// eachDriver runs a test on every kind of store.
func eachDriver(t *testing.T, test func(*testing.T, driver)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, sqlite{})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		if bounded(t) {
			test(t, shared(t, 2))
			return
		}
		test(t, alone(t, 3))
	})
}

// TestNothingIsLostAndNothingHappensTwice does whatever its seeds choose: one that is always the same, and, where more
// is asked for, one that nobody has tried.
func TestNothingIsLostAndNothingHappensTwice(t *testing.T) {
	t.Parallel()
	eachDriver(t, func(t *testing.T, d driver) {
		kills, want, seeds := 0, asked(t, envKills, 0), 2
		if bounded(t) {
			seeds = 1
		}
		seed := uint64(asked(t, envSeed, 7))
		for i := 0; i < seeds || kills < want; i++ {
			if i > 0 {
				seed = rand.Uint64N(1_000_000)
			}
			t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
				w := newWorld(t, seed, d, "")
				w.publish(w.storm(asked(t, envRounds, few), w.strikes))
				w.tell()
				kills += w.tally.kills["at random"]
			})
			if t.Failed() {
				return
			}
		}
		t.Logf("%s: %d kills at random", d.name(), kills)
	})
}

// TestEveryFailpointIsSurvived ends a node on both sides of every write there is, once each and on both stores, where
// more is asked for, and else behind the write that every step of a run needs.
func TestEveryFailpointIsSurvived(t *testing.T) {
	t.Parallel()
	survived := func(all []string, wait time.Duration) func(*testing.T, driver) {
		return func(t *testing.T, d driver) {
			w := newWorld(t, 11, d, "")
			w.publish(w.storm(len(all), func(ctx context.Context, round int) {
				w.killAtPoint(ctx, w.any(), all[round], strconv.Itoa(1+w.roll(3)), wait)
			}))
			w.tell()
		}
	}
	if bounded(t) {
		survived([]string{"append to run.committed"}, time.Minute)(t, shared(t, 2))
		return
	}
	eachDriver(t, survived(points(t), 5*time.Second)) // not all of them lie on the way of these runs
}

// TestACallThatLeftIsNotRepeatedUnasked ends a node between an effect and its result. It shows what the mark is worth:
// without it the same faults make the effect happen twice.
func TestACallThatLeftIsNotRepeatedUnasked(t *testing.T) {
	t.Parallel()
	cut := func(t *testing.T, off string) *world {
		w := emptyWorld(t, 5, sqlite{}, off)
		w.begin(w.nodes[0], "FASTREACT_FAILPOINTS=tool.after=kill@3")
		w.calm = 15 * time.Second
		w.publish(w.storm(1, func(ctx context.Context, _ int) {
			for range 3 {
				w.launchOne(ctx, "charge", "charge")
			}
			w.awaitPoint(ctx, w.nodes[0], "tool.after", time.Minute)
		}))
		return w
	}
	t.Run("with the mark", func(t *testing.T) {
		w := cut(t, "")
		if w.tally.unknowns == 0 {
			t.Error("nobody was asked what became of the call")
		}
		w.tell()
	})
	t.Run("without it", func(t *testing.T) {
		cut(t, "dispatched").expect("effect twice")
	})
}

// TestNodesOnOneStore does to them what happens to machines, one thing after the other and under load.
func TestNodesOnOneStore(t *testing.T) {
	t.Parallel()
	nodes, times := 2, 1
	if !bounded(t) {
		nodes, times = 3, 3
	}
	w := newWorld(t, 6, shared(t, nodes), "")
	facts := []struct {
		name string
		show func(context.Context, *testing.T, *world)
	}{
		{"a woken node writes nothing", wokenNode},
		{"runs of a dead node go on at once", deadNode},
		{"a rolling restart ends nothing early", rollingRestart},
	}
	w.publish(w.storm(times*len(facts), func(ctx context.Context, round int) {
		fact := facts[round%len(facts)]
		t.Run(fact.name, func(t *testing.T) { fact.show(ctx, t, w) })
	}))
	w.tell()
}

// sleeper stops a node until others have its runs, and wakes it.
func sleeper(ctx context.Context, w *world) {
	for range 6 {
		w.launchOne(ctx, "charge", "charge", "charge", "charge", "charge", "charge", "charge", "charge", "charge")
	}
	w.awaitDriven(ctx, w.nodes[0], 2)
	w.stop(ctx, w.nodes[0], lease+1500*time.Millisecond)
	pause(ctx, 2*time.Second)
}

func wokenNode(ctx context.Context, t *testing.T, w *world) {
	sleeper(ctx, w)
	if n := w.metric(w.nodes[0], "fastreact_fenced_writes_total"); n == 0 {
		t.Error("no write of the woken node was refused")
	}
}

// TestWithoutTheFenceTwoWriteToOneRun shows what the fence is worth: without it a node that wakes does harm.
func TestWithoutTheFenceTwoWriteToOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6, shared(t, 2), "fence")
	w.calm = 15 * time.Second
	w.publish(w.storm(1, func(ctx context.Context, _ int) { sleeper(ctx, w) }))
	w.expect("epoch", "gap", "effect twice", "end", "results", "key changed")
}

// deadNode kills one node, and measures when its runs have another driver.
func deadNode(ctx context.Context, t *testing.T, w *world) {
	for range 12 {
		w.launchOne(ctx, "look", "charge", "look", "charge", "look", "look")
	}
	w.awaitDriven(ctx, w.nodes[0], 2)
	w.strike(ctx, w.nodes[0], "at random", w.nodes[0].kill)
	w.measuring.Wait()
	w.revive(ctx, w.nodes[0])
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.tally.takeovers) == 0 {
		t.Fatal("the dead node drove nothing")
	}
	slices.Sort(w.tally.takeovers)
	if median := w.tally.takeovers[len(w.tally.takeovers)/2]; median > lease+time.Second {
		t.Errorf("takeovers took %v, want at most the lease and a second", w.tally.takeovers)
	}
}

// rollingRestart restarts the nodes one after the other under fifty runs.
func rollingRestart(ctx context.Context, _ *testing.T, w *world) {
	for range 50 {
		w.launchOne(ctx, "charge", "look")
	}
	w.rolling(ctx)
}
