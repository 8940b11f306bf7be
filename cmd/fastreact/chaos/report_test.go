package chaos

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tally is what happened in a world.
type tally struct {
	kills     map[string]int // by failpoint; "at random" for the others
	missed    map[string]int // failpoints that were set and never reached
	faults    map[string]int // everything else that was done
	takeovers []time.Duration
	restarts  []time.Duration // until a run that a dead process drove was driven again, where no other node was up
	permits   int
	unknowns  int
	retries   int
}

func (t *tally) asked(a approval) {
	if a.Kind == unknown {
		t.unknowns++
		return
	}
	t.permits++
}

// count changes the tally.
func (w *world) count(change func(*tally)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tally.kills == nil {
		w.tally = tally{kills: map[string]int{}, missed: map[string]int{}, faults: map[string]int{}}
	}
	change(&w.tally)
}

// report says what a world went through.
func (w *world) report(ended map[string]int) string {
	w.count(func(*tally) {})
	var b strings.Builder
	y := &w.tally
	resumed, killed := 0, 0
	for _, t := range w.trips {
		for _, r := range t.readers {
			resumed += r.resumed
		}
	}
	for _, n := range y.kills {
		killed += n
	}
	fmt.Fprintf(&b, "%s, seed %d, %v: %d runs %v, %d kills, %d streams resumed, %d approvals, %d unknown outcomes asked, %d requests repeated, %d violations\n",
		w.driver.name(), w.seed, w.since(), len(w.trips), ended, killed, resumed, y.permits, y.unknowns, y.retries, len(w.violations))
	for title, counts := range map[string]map[string]int{"  kills": y.kills, "  failpoints not reached": y.missed, "  other faults": y.faults} {
		if len(counts) > 0 {
			fmt.Fprintf(&b, "%s:%s\n", title, listed(counts))
		}
	}
	for title, took := range map[string][]time.Duration{"takeover by another node": y.takeovers, "driven again after a restart": y.restarts} {
		if len(took) > 0 {
			slices.Sort(took)
			fmt.Fprintf(&b, "  %s: %d, median %v, maximum %v (lease %v)\n", title, len(took), took[len(took)/2], took[len(took)-1], lease)
		}
	}
	return b.String()
}

func listed(counts map[string]int) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		text += fmt.Sprintf(" %s %d;", name, counts[name])
	}
	return text
}

// publish prints the report, and adds it to the artifacts where there are any.
func (w *world) publish(report string) {
	w.t.Log(report)
	folder := os.Getenv("FASTREACT_ARTIFACTS")
	if folder == "" {
		return
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		w.t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(folder, "chaos.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		w.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(report); err != nil {
		w.t.Fatal(err)
	}
}
