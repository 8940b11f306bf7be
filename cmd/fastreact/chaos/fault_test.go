package chaos

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// points lists the failpoints of the sources: before and after each transaction that writes, and both sides of a tool's
// effect.
func points(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../host/internal/ledger/relational/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	all := []string{"tool.before", "tool.after"}
	named := regexp.MustCompile(`const op = "([^"]+)"|write\(ctx, l, "([^"]+)"`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") || !strings.Contains(string(text), "write(") {
			continue
		}
		for _, found := range named.FindAllStringSubmatch(string(text), -1) {
			if op := found[1] + found[2]; !strings.HasPrefix(op, "read ") {
				all = append(all, op+".begin", op+".committed")
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// usual are the failpoints that every workload reaches often.
func usual() []string {
	return []string{
		"tool.before", "tool.after", "append to run.begin", "append to run.committed", "claim run.begin", "claim run.committed",
		"create run.begin", "create run.committed", "resolve approval.begin", "resolve approval.committed",
		"cancel run.committed", "renew leases.begin", "renew leases.committed",
	}
}

// any returns a node that the seed chooses.
func (w *world) any() *node { return w.nodes[w.roll(len(w.nodes))] }

// killAtRandom ends a node at a moment that the seed chooses, and starts it again.
func (w *world) killAtRandom(ctx context.Context) {
	n := w.any()
	pause(ctx, w.between(0, 700*time.Millisecond))
	w.strike(ctx, n, "at random", func() { n.kill() })
	w.revive(ctx, n)
}

// killAtPoint starts a node anew so that it ends itself at a failpoint, and waits for that as long as it is given.
func (w *world) killAtPoint(ctx context.Context, n *node, point string, hit string, wait time.Duration) {
	w.fault("%s ends itself at %s=kill@%s", n.name, point, hit)
	before := w.drivenBy(ctx, n)
	n.kill()
	w.count(func(t *tally) { t.kills["at random"]++ })
	w.watchTakeover(before, time.Now(), n)
	n.start("FASTREACT_FAILPOINTS=" + point + "=kill@" + hit)
	w.awaitPoint(ctx, n, point, wait)
}

// awaitPoint waits until a node has ended itself at a failpoint, as long as it is given, and starts it again.
func (w *world) awaitPoint(ctx context.Context, n *node, point string, wait time.Duration) {
	select {
	case <-n.gone():
		w.count(func(t *tally) { t.kills[point]++ })
	case <-time.After(wait):
		w.strike(ctx, n, "at random", func() { n.kill() })
		w.count(func(t *tally) { t.missed[point]++ })
	case <-ctx.Done():
		return
	}
	w.revive(ctx, n)
}

// strike does something to a node that ends it, and measures how long its runs stay without a driver.
func (w *world) strike(ctx context.Context, n *node, what string, how func()) {
	before := w.drivenBy(ctx, n)
	w.fault("%s is killed %s", n.name, what)
	at := time.Now()
	how()
	w.count(func(t *tally) { t.kills[what]++ })
	w.watchTakeover(before, at, n)
}

// revive starts a node again after a while, sometimes with a clock that is wrong by an hour.
func (w *world) revive(ctx context.Context, n *node) {
	if len(w.nodes) > 1 {
		pause(ctx, w.between(0, lease+time.Second))
	}
	env := []string{}
	if w.roll(6) == 0 {
		off := []string{"1h", "-1h"}[w.roll(2)]
		env = append(env, "FASTREACT_FAILPOINTS_CLOCK="+off)
		w.fault("%s has a clock that is off by %s", n.name, off)
		w.count(func(t *tally) { t.faults["clock off by an hour"]++ })
	}
	if !n.start(env...) && ctx.Err() == nil {
		w.violate("start", "%s does not start:\n%s", n.name, n.last())
	}
}

// stop stops a node for a while, and wakes it.
func (w *world) stop(ctx context.Context, n *node, held time.Duration) {
	w.fault("%s is stopped", n.name)
	w.count(func(t *tally) { t.faults["stopped past its lease"]++ })
	n.signal(syscall.SIGSTOP)
	pause(ctx, held)
	n.signal(syscall.SIGCONT)
	w.fault("%s is woken", n.name)
}

// rolling ends one node after the other politely, and starts each again.
func (w *world) rolling(ctx context.Context) {
	for _, n := range w.nodes {
		w.fault("%s is asked to end", n.name)
		n.signal(syscall.SIGTERM)
		select {
		case <-n.gone():
		case <-time.After(15 * time.Second):
			w.violate("drain", "%s does not end:\n%s", n.name, n.last())
			n.kill()
		}
		if !n.start() && ctx.Err() == nil {
			w.violate("start", "%s does not start:\n%s", n.name, n.last())
		}
	}
	w.count(func(t *tally) { t.faults["rolling restart"]++ })
}

// drivenBy lists the runs that a node drives, as another one tells.
func (w *world) drivenBy(ctx context.Context, n *node) []record {
	url, owner := n.now()
	if owner == "" && url != "" {
		n.learnOwner(url)
		_, owner = n.now()
	}
	var list struct{ Runs []record }
	dice := rand.New(rand.NewPCG(w.seed, 3))
	if owner == "" {
		return nil
	}
	for range 3 {
		if status, raw := w.ask(ctx, dice, "GET", "/v1/runs?status=running&limit=200", nil, ""); status == 200 && decode(raw, &list) {
			break
		}
	}
	return slices.DeleteFunc(list.Runs, func(r record) bool { return r.Worker == nil || *r.Worker != owner })
}

// awaitDriven waits until a node drives some runs, and at least one tool had an effect.
func (w *world) awaitDriven(ctx context.Context, n *node, some int) {
	for ctx.Err() == nil && (len(w.drivenBy(ctx, n)) < some || len(w.effects()) == 0) {
		pause(ctx, breather)
	}
}

// watchTakeover measures how long it takes until somebody else drives each of the runs.
func (w *world) watchTakeover(runs []record, since time.Time, dead *node) {
	others := slices.ContainsFunc(w.nodes, func(n *node) bool { url, _ := n.now(); return n != dead && url != "" })
	for i, r := range runs[:min(4, len(runs))] {
		w.measuring.Go(func() {
			took := w.untilDriven(r, since, rand.New(rand.NewPCG(w.seed, uint64(i))))
			w.count(func(t *tally) {
				switch {
				case took == 0:
				case others:
					t.takeovers = append(t.takeovers, took)
				default:
					t.restarts = append(t.restarts, took)
				}
			})
		})
	}
}

// untilDriven returns how long after since a run has another driver, or is over or parked; 0: not within half a minute.
func (w *world) untilDriven(r record, since time.Time, dice *rand.Rand) time.Duration {
	for time.Since(since) < 30*time.Second {
		var now record
		status, raw := w.ask(context.Background(), dice, "GET", "/v1/runs/"+r.ID, nil, "")
		if status == 200 && decode(raw, &now) && (now.over() || now.Attempts > r.Attempts || now.Phase == "awaiting_approval") {
			return time.Since(since)
		}
		pause(context.Background(), 20*time.Millisecond)
	}
	return 0
}
