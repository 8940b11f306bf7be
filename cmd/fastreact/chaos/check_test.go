package chaos

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// record is a run as the wire shows it.
type record struct {
	ID       string  `json:"run_id"`
	Status   string  `json:"status"`
	Phase    string  `json:"phase"`
	Worker   *string `json:"worker_id"`
	Attempts int     `json:"attempts"`
	Error    any     `json:"error"`
	Failure  any     `json:"last_error"`
}

func (r record) over() bool {
	return r.Status == "completed" || r.Status == "failed" || r.Status == "cancelled"
}

// event is an event as the wire shows it.
type event struct {
	Type     string `json:"type"`
	Sequence int    `json:"sequence"`
	Call     string `json:"tool_call_id"`
	Tool     string `json:"tool_name"`
	Content  string `json:"content"`
	Args     struct {
		Step string `json:"step"`
	} `json:"tool_args"`
	Metadata map[string]any `json:"metadata"`
}

// check compares what clients saw, what tools did and what is stored. It returns how the runs ended.
func (w *world) check(ctx context.Context) map[string]int {
	dice := rand.New(rand.NewPCG(w.seed, 99))
	ended := map[string]int{}
	for _, t := range w.trips {
		if !t.created {
			ended["never acknowledged"]++
			continue
		}
		ended[w.checkTrip(ctx, dice, t)]++
	}
	w.checkEpochs()
	return ended
}

// checkTrip checks one run.
func (w *world) checkTrip(ctx context.Context, dice *rand.Rand, t *trip) string {
	var r record
	if status := w.get(ctx, dice, "/v1/runs/"+t.run, &r); status != http.StatusOK {
		w.violate("lost run", "%s was acknowledged: %d", t.run, status)
		return "lost"
	}
	if !r.over() {
		w.violate("never over", "%s is %s %s, attempt %d", t.run, r.Status, r.Phase, r.Attempts)
	}
	if t.cancelled && r.Status != "cancelled" {
		w.violate("cancel lost", "%s is %s after it was said to be cancelled", t.run, r.Status)
	}
	var log struct{ Events []event }
	w.get(ctx, dice, "/v1/runs/"+t.run+"/events?limit=1000", &log)
	w.checkLog(t, r, log.Events)
	w.checkReaders(ctx, dice, t)
	var asked struct{ Approvals []approval }
	w.get(ctx, dice, "/v1/approvals?limit=1000&run_id="+t.run, &asked)
	w.checkApprovals(t, asked.Approvals)
	w.checkEffects(t, log.Events, asked.Approvals)
	if r.Status == "failed" {
		w.checkFailure(t, log.Events)
	}
	return r.Status
}

// checkLog: sequences without a gap, one end, one result for each call.
func (w *world) checkLog(t *trip, r record, events []event) {
	results, ends := map[string]int{}, 0
	for i, e := range events {
		if e.Sequence != i {
			w.violate("gap", "%s: event %d has sequence %d", t.run, i, e.Sequence)
		}
		switch e.Type {
		case "tool_call":
			results[e.Call]--
		case "tool_result":
			results[e.Call]++
		case "session_end", "error":
			if ends++; i != len(events)-1 {
				w.violate("end", "%s: %s at %d of %d events", t.run, e.Type, i, len(events))
			}
		}
	}
	for call, n := range results {
		if n != 0 {
			w.violate("results", "%s: call %s has %d results too many", t.run, call, n)
		}
	}
	if r.over() && ends != 1 {
		w.violate("end", "%s (%s) has %d terminal events", t.run, r.Status, ends)
	}
}

// checkReaders: what a client saw is how the log begins, byte for byte, and it saw the end.
func (w *world) checkReaders(ctx context.Context, dice *rand.Rand, t *trip) {
	after := &reader{w: w, run: t.run, dice: dice}
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	after.follow(ctx)
	for i, r := range t.readers {
		for j, frame := range r.seen {
			if j >= len(after.seen) || after.seen[j] != frame {
				w.violate("seen", "%s: reader %d saw as its frame %d what the log does not have:\n%s", t.run, i, j, frame)
				break
			}
		}
		if r.done && len(r.seen) != len(after.seen) {
			w.violate("seen", "%s: reader %d was told [DONE] after %d of %d events", t.run, i, len(r.seen), len(after.seen))
		}
		if !r.done {
			w.violate("never done", "%s: reader %d has %d of %d events and was never told that there are no more", t.run, i, len(r.seen), len(after.seen))
		}
	}
}

// checkApprovals: each is settled once, as whoever was told so was told.
func (w *world) checkApprovals(t *trip, all []approval) {
	for _, a := range all {
		if a.Status == "pending" {
			w.violate("unsettled", "%s: approval %s of a run that is over", t.run, a.ID)
		}
		for _, said := range w.answers[a.ID] {
			if said.status != http.StatusOK {
				continue
			}
			want := map[string]string{"approve": "approved", "deny": "denied"}[said.word]
			if a.Status != want || said.stands != want || a.Choice != said.choice {
				w.violate("settled twice", "%s: approval %s is %s %s, but somebody was told that %s %s stands",
					t.run, a.ID, a.Status, a.Choice, want, said.choice)
			}
		}
	}
}

// checkEffects: what must not happen twice happened once, and once more for each person who said so; what was not
// allowed did not happen; what came back did happen.
func (w *world) checkEffects(t *trip, events []event, asked []approval) {
	made, keys, retries, permits := map[string]int{}, map[string]map[string]int{}, map[string]int{}, map[string]int{}
	for _, e := range w.effects() { // read after the log: whatever came back is there
		if e.Run != t.run {
			continue
		}
		at := e.Tool + " " + e.Step
		if made[at]++; keys[at] == nil {
			keys[at] = map[string]int{}
		}
		keys[at][e.Key]++
	}
	for _, a := range asked {
		at := strings.TrimPrefix(a.Tool, "shop_") + " " + a.Args.Step
		switch {
		case a.Kind == unknown && a.Status == "approved" && a.Choice == "retry":
			retries[at]++
		case a.Kind != unknown && a.Status == "approved":
			permits[at]++
		}
	}
	for at, n := range made {
		tool, _, _ := strings.Cut(at, " ")
		if len(keys[at]) != 1 {
			w.violate("key changed", "%s: %s was called under the keys %v", t.run, at, keys[at])
		}
		if keys[at][""] > 0 {
			w.violate("no key", "%s: %s was called without a key", t.run, at)
		}
		if tool != "look" && n > 1+retries[at] {
			w.violate("effect twice", "%s: %s happened %d times, and %d persons said retry", t.run, at, n, retries[at])
		}
		if tool == "pay" && permits[at] == 0 {
			w.violate("not allowed", "%s: %s happened although nobody approved it", t.run, at)
		}
	}
	w.checkResults(t, events, made)
}

// checkResults: a result that says it is done was preceded by the effect.
func (w *world) checkResults(t *trip, events []event, made map[string]int) {
	for _, e := range events {
		step, ok := strings.CutPrefix(e.Content, "done ")
		at := strings.TrimPrefix(e.Tool, "shop_") + " " + step
		if e.Type == "tool_result" && ok && made[at] == 0 {
			w.violate("result without effect", "%s: %s", t.run, at)
		}
	}
}

// checkFailure: a run fails because a person ended it, or because every claim of it ended in vain.
func (w *world) checkFailure(t *trip, events []event) {
	if len(events) == 0 {
		return
	}
	last := events[len(events)-1]
	code := fmt.Sprint(last.Metadata["error_code"], last.Metadata["code"], last.Metadata["error_type"], last.Metadata["reason"])
	if !strings.Contains(code, unknown) && !strings.Contains(code, "crash_loop") {
		w.violate("failed", "%s: %s %v", t.run, last.Content, last.Metadata)
	}
}

// checkEpochs: no claim wrote an event after one that a later claim wrote.
func (w *world) checkEpochs() {
	raw, err := os.ReadFile(w.journal())
	if err != nil {
		return // the program was not told to keep one, or nothing was written
	}
	type wrote struct{ epoch, from int64 }
	byRun := map[string][]wrote{}
	for line := range bytes.Lines(raw) {
		words := strings.Fields(string(line))
		if len(words) == 4 && words[0] == "wrote" {
			epoch, _ := strconv.ParseInt(words[2], 10, 64)
			from, _ := strconv.ParseInt(words[3], 10, 64)
			byRun[words[1]] = append(byRun[words[1]], wrote{epoch, from})
		}
	}
	for run, all := range byRun {
		slices.SortFunc(all, func(a, b wrote) int { return int(a.from - b.from) })
		for i := 1; i < len(all); i++ {
			if all[i].epoch < all[i-1].epoch {
				w.violate("epoch", "%s: claim %d wrote sequence %d after claim %d wrote %d", run, all[i].epoch, all[i].from, all[i-1].epoch, all[i-1].from)
			}
		}
	}
}
