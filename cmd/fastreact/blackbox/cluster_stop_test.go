package blackbox

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// metric reads a number of a node as Prometheus does; -1 where there is none.
func (w *twoNodes) metric(node int, name string) float64 {
	w.t.Helper()
	_, raw := w.nodes[node].request("GET", "/metrics", nil)
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		if text, found := strings.CutPrefix(lines.Text(), name+" "); found {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				w.t.Fatal(err)
			}
			return value
		}
	}
	return -1
}

// pausedNodeIsRefused stops node 1 in the middle of two runs, and lets it go on when node 2 has ended the one and is in
// the middle of the other.
func (w *twoNodes) pausedNodeIsRefused(t *testing.T) {
	const fenced = "fastreact_fenced_writes_total"
	before := w.metric(0, fenced)
	for _, id := range []string{"paused", "overtaken"} {
		w.chat(0, id, fmt.Sprintf("deed %s; think %[1]s deed %[1]s-after", id)).until("tool_result")
	}
	process := w.nodes[0].command.Process
	t.Cleanup(func() { _ = process.Signal(syscall.SIGCONT) })
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"paused", "overtaken"} {
		w.nodes[1].await(waitLimit, func() (bool, string) {
			_, raw := w.nodes[1].request("GET", "/v1/runs/"+id, nil)
			return w.nodes[1].object(raw)["attempts"] == 2.0, string(raw)
		})
	}
	w.letPass("paused")
	w.nodes[1].awaitStatus("paused", "completed")
	log := strings.Join(raws(w.endedOnce(1, "paused", "session_end")), "")
	if err := process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.nodes[0].await(waitLimit, func() (bool, string) {
		now := w.metric(0, fenced)
		return before >= 0 && now >= before+2, fmt.Sprintf("%s is %v, and was %v", fenced, now, before)
	})
	w.letPass("overtaken")
	w.nodes[1].awaitStatus("overtaken", "completed")
	w.endedOnce(0, "overtaken", "session_end")
	if again := strings.Join(raws(w.endedOnce(0, "paused", "session_end")), ""); again != log {
		t.Errorf("the log changed when the node woke up:\n%s\n%s", log, again)
	}
	for _, id := range []string{"paused", "paused-after", "overtaken", "overtaken-after"} {
		if n := len(w.deeds(id)); n != 1 {
			t.Errorf("%s was done %d times", id, n)
		}
	}
	t.Logf("%s went from %v to %v", fenced, before, w.metric(0, fenced))
}

// stopped is a run that is under way when its node is told to stop.
type stopped struct{ id, plan, held string }

// stopHandsOn ends node 1 while it drives runs that ask the model, that call a tool, and that wait for a person. What
// does not end within the grace is ended by node 2, also where a client was to be the end of its run: it did not leave.
func (w *twoNodes) stopHandsOn(t *testing.T) {
	all := w.underWay()
	watchers, reading := w.watchAll(all)
	asked := time.Now()
	if err := w.nodes[0].command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.nodes[0].await(waitLimit, func() (bool, string) { // nobody is to send it more
		_, raw := w.nodes[0].request("GET", "/ready", nil)
		body := w.nodes[0].object(raw)
		return body["status"] == "degraded" && body["agent_ready"] == false, string(raw)
	})
	for i := range 4 { // these end in time
		w.letPass(fmt.Sprintf("stop-model-%d", i))
		w.letGo(fmt.Sprintf("stop-tool-%d", i))
	}
	<-w.nodes[0].exited
	if code := w.nodes[0].command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d:\n%s", code, w.nodes[0].output)
	}
	took := time.Since(asked)
	reading.Wait()
	for i := range 6 {
		w.letPass(fmt.Sprintf("stop-model-%d", i))
	}
	w.letGo("stop-tool-4")
	w.letGo("stop-tool-5")
	lost := w.settleStopped(all)
	for i, r := range all {
		w.nodes[1].verifyRun(r.id, watchers[i].seen)
		if n := len(w.deeds(r.id)); n != 1 {
			t.Errorf("run %s took effect %d times", r.id, n)
		}
	}
	t.Logf("%d runs under way; the node ended after %v; of %d calls nobody knew the outcome", len(all), took.Round(time.Millisecond), lost)
}

// underWay begins twenty runs at node 1 and returns when each is where it shall be.
func (w *twoNodes) underWay() []stopped {
	w.t.Helper()
	var all []stopped
	for i := range 8 {
		all = append(all, stopped{id: fmt.Sprintf("stop-parked-%d", i), plan: fmt.Sprintf("bump stop-parked-%d", i)})
	}
	for i := range 6 {
		all = append(all,
			stopped{id: fmt.Sprintf("stop-model-%d", i), plan: fmt.Sprintf("think stop-model-%d deed stop-model-%[1]d", i)},
			stopped{id: fmt.Sprintf("stop-tool-%d", i), plan: fmt.Sprintf("deed stop-tool-%d", i), held: fmt.Sprintf("stop-tool-%d", i)})
	}
	return all
}

// watchAll begins the runs at node 1, reads their streams in the background, and returns when each is where it shall be.
func (w *twoNodes) watchAll(all []stopped) ([]*watcher, *sync.WaitGroup) {
	w.t.Helper()
	var reading sync.WaitGroup
	var watchers []*watcher
	for i, r := range all {
		if r.held != "" {
			w.hold(r.held)
		}
		watchers = append(watchers, w.nodes[0].watch(r.id, r.plan, i%2 == 0, &reading))
	}
	for _, r := range all {
		switch {
		case r.held != "":
			w.awaitDeeds(r.id, 1)
		case strings.HasPrefix(r.plan, "bump"):
			w.awaitPending(0, r.id)
		default:
			w.nodes[0].awaitStatus(r.id, "running")
		}
	}
	return watchers, &reading
}

// settleStopped answers what is asked at node 2 until every run is over, and returns how many calls were lost.
func (w *twoNodes) settleStopped(all []stopped) (lost int) {
	w.t.Helper()
	for _, r := range all {
		w.nodes[1].await(waitLimit, func() (bool, string) {
			for _, record := range w.pending(1, r.id) {
				body := map[string]any{}
				if record["kind"] == "outcome_unknown" {
					lost++
					body["choice"] = "treat_as_done"
				}
				if got := w.send(1, "POST", "/v1/approvals/"+record["request_id"].(string)+"/approve", body); got.status != 200 {
					w.t.Errorf("approve: %v", got)
				}
			}
			_, raw := w.nodes[1].request("GET", "/v1/runs/"+r.id, nil)
			return w.nodes[1].object(raw)["status"] == "completed", string(raw)
		})
	}
	return lost
}
