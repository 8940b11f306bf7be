package blackbox

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTwoNodes shows what two nodes of the service on one database are together. The facts share the nodes; the last
// one ends a node for good.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	model, g := newPlanned(t)
	w := &twoNodes{cluster: startCluster(t, model, clusterConfig{workers: ", chat: 100, background: 32", store: ", max_connections: 5"}), gates: g}
	for _, fact := range []struct {
		name  string
		prove func(*testing.T)
	}{
		{"nodes of one name are told so", w.namesakesAreTold},
		{"a cancel at one ends what the other drives", w.cancelElsewhere},
		{"a client cut at any event reads on at the other", w.cutAnywhere},
		{"of fifty racing answers one counts, fifty times", w.raceAnswers},
		{"a key counts at both", w.keysCountAtBoth},
		{"a database that leaves and comes back loses nothing", w.databaseLeaves},
		{"a paused node that wakes is refused", w.pausedNodeIsRefused},
		{"a lost outcome is asked about, and each answer does what it says", w.lostOutcomes},
		{"a stop hands on what cannot end in time", w.stopHandsOn},
	} {
		w.fact(fact.name, fact.prove)
	}
}

// twoNodes is what the facts share.
type twoNodes struct {
	*cluster
	*gates
	keys []keyed // requests under keys whose answers must never change
}

// chat begins a run that the node drives, and that outlives its reader.
func (w *twoNodes) chat(node int, id, plan string) *frames {
	w.t.Helper()
	return w.nodes[node].stream(ask(plan, map[string]any{
		"metadata": map[string]any{"run_id": id}, "on_disconnect": "continue",
	}))
}

// awaitDeeds waits until a tool has taken effect so often under an id.
func (w *twoNodes) awaitDeeds(id string, n int) {
	w.t.Helper()
	w.nodes[1].await(waitLimit, func() (bool, string) {
		all := w.deeds(id)
		return len(all) >= n, fmt.Sprintf("deeds %v, want %d", all, n)
	})
}

// endedOnce demands that a run has one event that ends it, the last one, and that no call lacks its result.
func (w *twoNodes) endedOnce(node int, id, kind string) []frame {
	w.t.Helper()
	all := w.log(node, id)
	names := kinds(all)
	ends := len(of(all, "session_end")) + len(of(all, "error"))
	if ends != 1 || len(names) < 2 || names[len(names)-2] != kind {
		w.t.Errorf("run %s ends %d times, want once as %s: %v", id, ends, kind, names)
	}
	if calls, results := len(of(all, "tool_call")), len(of(all, "tool_result")); calls != results {
		w.t.Errorf("run %s has %d calls and %d results", id, calls, results)
	}
	return all
}

// cancelElsewhere cancels a run within a call and one within a question to the model.
func (w *twoNodes) cancelElsewhere(t *testing.T) {
	w.hold("cancelled-tool")
	w.chat(0, "cancel-tool", "deed cancelled-tool").until("tool_call")
	w.awaitDeeds("cancelled-tool", 1)
	w.chat(0, "cancel-model", "think cancelled-model deed never").until("session_start")
	for _, id := range []string{"cancel-tool", "cancel-model"} {
		if status, raw := w.nodes[1].request("POST", "/v1/runs/"+id+"/cancel", nil); status != 200 {
			t.Errorf("cancel %s: %d %s", id, status, raw)
		}
		w.nodes[1].awaitStatus(id, "cancelled")
		w.endedOnce(0, id, "error")
	}
	w.letGo("cancelled-tool")
	w.letPass("cancelled-model")
	if n, never := len(w.deeds("cancelled-tool")), len(w.deeds("never")); n != 1 || never != 0 {
		t.Errorf("the tools ran %d and %d times", n, never)
	}
}

// cutPlan has some of every step, with a pause in the middle.
const cutPlan = "deed %s; safe %[1]s; think %[1]s deed %[1]s; safe %[1]s"

// cutAnywhere reads a run that node 1 drives, with as many clients as it has events: each is cut after one event more
// than the one before, every second of them within the next frame, and reads on at node 2. One comes late, one after
// the end.
func (w *twoNodes) cutAnywhere(t *testing.T) {
	w.letPass("dry")
	length := len(w.chatToEnd("dry"))
	first := w.chat(0, "cut", fmt.Sprintf(cutPlan, "cut"))
	var clients sync.WaitGroup
	read := make([][]frame, length)
	for cut := range length {
		clients.Go(func() { read[cut] = w.readCut("cut", cut) })
	}
	begin := first.until("step_end")
	begin = append(begin, first.until("step_end")...) // half of it is over
	late := newFrames(t, w.nodes[1].open("GET", "/v1/runs/cut/stream", nil).Body)
	w.letPass("cut")
	clients.Wait()
	log := raws(append(begin, first.rest()...))
	if len(log) != length {
		t.Errorf("the run has %d frames, the one before had %d", len(log), length)
	}
	for cut, all := range read {
		if diff := cmp.Diff(log, raws(all)); diff != "" {
			t.Errorf("cut after %d events (-log +read):\n%s", cut, diff)
		}
	}
	for name, all := range map[string][]frame{"late": late.rest(), "after the end, node 1": w.log(0, "cut"), "after the end, node 2": w.log(1, "cut")} {
		if diff := cmp.Diff(log, raws(all)); diff != "" {
			t.Errorf("%s (-log +read):\n%s", name, diff)
		}
	}
	t.Logf("%d clients were cut after 0 to %d events", length, length-1)
}

// chatToEnd runs the plan of cutAnywhere once.
func (w *twoNodes) chatToEnd(id string) []frame {
	w.t.Helper()
	return w.chat(0, id, fmt.Sprintf(cutPlan, id)).rest()
}

// readCut reads so many events of a run at node 1 and all others at node 2.
func (w *twoNodes) readCut(id string, cut int) []frame {
	var all []frame
	reader, err := w.tail(0, id, "")
	if err != nil {
		w.t.Error(err)
		return nil
	}
	last := ""
	for range cut {
		next, ok := reader.next()
		if !ok {
			w.t.Errorf("the stream ended after %v", kinds(all))
			return nil
		}
		all, last = append(all, next), next.id
	}
	if cut%2 == 1 {
		_, _ = io.ReadFull(reader.reader, make([]byte, 9)) // of the next frame, or of what keeps the line alive
	}
	reader.body.Close()
	if reader, err = w.tail(1, id, last); err != nil {
		w.t.Error(err)
		return nil
	}
	defer reader.body.Close()
	return slices.Concat(all, reader.rest())
}
