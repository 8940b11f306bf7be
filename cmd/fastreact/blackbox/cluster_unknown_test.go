package blackbox

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lostOutcomes kills node 1 while six calls have taken effect and none was answered. Node 2 takes the runs over: it
// repeats the one that may be repeated, and asks about the others.
func (w *twoNodes) lostOutcomes(t *testing.T) {
	ended := raws(w.chat(0, "ended", "deed ended; safe ended").rest())
	calls := map[string]string{"retry": "deed", "done": "deed", "abort": "deed", "deny": "deed", "again": "safe"}
	for name, tool := range calls {
		w.hold("lost-" + name)
		w.chat(0, "lost-"+name, fmt.Sprintf("%s lost-%s; deed after-%[2]s", tool, name)).until("tool_call")
		w.awaitDeeds("lost-"+name, 1)
	}
	servers := children(t, w.nodes[0].command.Process.Pid)
	w.nodes[0].kill()
	for _, server := range servers {
		awaitGone(t, server)
	}
	for name := range calls {
		w.letGo("lost-" + name)
	}
	w.repeatedWithItsKey(t)
	w.askedAndAnswered(t)
	w.heardAgain(1)
	w.nodes[0].run()
	w.heardAgain(0)
	for node := range w.nodes {
		if diff := cmp.Diff(ended, raws(w.log(node, "ended"))); diff != "" {
			t.Errorf("a run that ended before its node died, at node %d (-before +after):\n%s", node+1, diff)
		}
	}
	for name := range calls {
		if diff := cmp.Diff(raws(w.log(1, "lost-"+name)), raws(w.log(0, "lost-"+name))); diff != "" {
			t.Errorf("run lost-%s (-node 2 +node 1, started again):\n%s", name, diff)
		}
	}
}

// repeatedWithItsKey is about the call of a tool that the operator declared idempotent: nobody is asked.
func (w *twoNodes) repeatedWithItsKey(t *testing.T) {
	w.nodes[1].awaitStatus("lost-again", "completed")
	all := w.deeds("lost-again")
	if len(all) != 2 || all[0] != all[1] || all[0].Key == "" {
		t.Errorf("deeds %v, want two with one key", all)
	}
	if asked := of(w.endedOnce(1, "lost-again", "session_end"), "ask_user"); len(asked) != 0 {
		t.Errorf("somebody was asked: %v", raws(asked))
	}
}

// askedAndAnswered gives each answer there is to one of the runs that ask.
func (w *twoNodes) askedAndAnswered(t *testing.T) {
	choices := []any{"retry", "treat_as_done", "abort"}
	for name, answer := range map[string]struct {
		route, choice  string
		status, ends   string
		before, after  int // deeds of the lost call, and of the one behind it
		record, chosen string
	}{
		"retry": {"approve", "retry", "completed", "session_end", 2, 1, "approved", "retry"},
		"done":  {"approve", "treat_as_done", "completed", "session_end", 1, 1, "approved", "treat_as_done"},
		"abort": {"approve", "abort", "failed", "error", 1, 0, "denied", "abort"},
		"deny":  {"deny", "", "failed", "error", 1, 0, "denied", "abort"},
	} {
		id := "lost-" + name
		record := w.awaitPending(1, id)
		if diff := cmp.Diff([]any{"outcome_unknown", choices}, []any{record["kind"], record["choices"]}); diff != "" {
			t.Errorf("%s: the record asks (-want +got):\n%s", id, diff)
		}
		path := "/v1/approvals/" + record["request_id"].(string) + "/"
		if got := w.send(1, "POST", path+"approve", nil); got.status != 422 || got.code() != "choice_required" {
			t.Errorf("%s: approve without a choice: %v", id, got)
		}
		if all := w.deeds(id); len(all) != 1 {
			t.Errorf("%s: deeds %v before anybody answered", id, all)
		}
		body := map[string]any{}
		if answer.choice != "" {
			body["choice"] = answer.choice
		}
		got := w.send(1, "POST", path+answer.route, body)
		settled, _ := w.nodes[1].object(got.raw)["approval"].(map[string]any)
		if got.status != 200 || settled["status"] != answer.record || settled["choice"] != answer.chosen {
			t.Errorf("%s: %v", id, got)
		}
		snapshot := w.nodes[1].awaitStatus(id, answer.status)
		all := w.endedOnce(1, id, answer.ends)
		w.askedOnce(id, all, choices)
		if lost, after := len(w.deeds(id)), len(w.deeds("after-"+name)); lost != answer.before || after != answer.after {
			t.Errorf("%s: %d deeds and %d behind it, want %d and %d", id, lost, after, answer.before, answer.after)
		}
		if answer.status == "failed" && snapshot["error_code"] != "outcome_unknown" {
			t.Errorf("%s: the record says %v", id, snapshot["error_code"])
		}
		if name == "retry" && w.deeds(id)[0].Key != w.deeds(id)[1].Key {
			t.Errorf("%s: keys of the tries differ: %v", id, w.deeds(id))
		}
	}
}

// askedOnce demands one question in the log, with what there is to choose.
func (w *twoNodes) askedOnce(id string, all []frame, choices []any) {
	w.t.Helper()
	asked := of(all, "ask_user")
	if len(asked) != 1 {
		w.t.Errorf("%s: %d questions", id, len(asked))
		return
	}
	metadata, _ := asked[0].json(w.t)["metadata"].(map[string]any)
	if diff := cmp.Diff([]any{"outcome_unknown", choices}, []any{metadata["kind"], metadata["choices"]}); diff != "" {
		w.t.Errorf("%s: the event asks (-want +got):\n%s", id, diff)
	}
}
