package blackbox

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyed is a request under an idempotency key, and what it was answered when all was over.
type keyed struct {
	path, key string
	body      any
	want      string
}

// under sends a request with its key.
func (w *twoNodes) under(node int, k keyed) reply {
	return w.send(node, "POST", k.path, k.body, "Idempotency-Key", k.key)
}

// taken sends a request under a key for the first time and demands that it counts.
func (w *twoNodes) taken(node int, k keyed) {
	w.t.Helper()
	if got := w.under(node, k); got.err != nil || got.status != 200 {
		w.t.Errorf("%s under key %s: %v", k.path, k.key, got)
	}
	w.keys = append(w.keys, k)
}

// refused demands that a key which was used for something else is refused.
func (w *twoNodes) refused(node int, k keyed) {
	w.t.Helper()
	if got := w.under(node, k); got.status != 409 || got.code() != "idempotency_key_reused" {
		w.t.Errorf("%s under key %s, which was used before: %v", k.path, k.key, got)
	}
}

// heardAgain sends every request again and demands the answer that it got before.
func (w *twoNodes) heardAgain(node int) {
	w.t.Helper()
	for i, k := range w.keys {
		got := w.under(node, k)
		if k.want == "" {
			w.keys[i].want = string(got.raw)
		}
		if got.status != 200 || string(got.raw) != w.keys[i].want {
			w.t.Errorf("%s under key %s at node %d: %v\nwant %s", k.path, k.key, node+1, got, w.keys[i].want)
		}
	}
}

// questionOf is the request of a run of a tenant.
func questionOf(tenant, id, plan string) map[string]any {
	return ask(plan, map[string]any{"user_key": tenant + ":user", "metadata": map[string]any{"run_id": id}})
}

// keysCountAtBoth sends what makes a run, and what changes one, again at the other node.
func (w *twoNodes) keysCountAtBoth(t *testing.T) {
	w.createOnce(t)
	w.streamOnce(t)
	approvals := map[string]string{}
	for _, id := range []string{"key-yes", "key-no", "key-other"} {
		w.taken(0, keyed{path: "/v1/runs", key: "make-" + id, body: questionOf("t1", id, "bump "+id)})
	}
	w.taken(1, keyed{path: "/v1/runs", key: "make-key-yes", body: questionOf("t2", "key-tenant", "bump key-tenant")})
	for _, id := range []string{"key-yes", "key-no", "key-other", "key-tenant"} {
		approvals[id] = "/v1/approvals/" + w.awaitPending(1, id)["request_id"].(string)
	}
	reason := map[string]any{"reason": "looked at it"}
	w.taken(0, keyed{path: approvals["key-yes"] + "/approve", key: "yes", body: reason})
	w.refused(1, keyed{path: approvals["key-yes"] + "/approve", key: "yes", body: map[string]any{"reason": "another"}})
	w.refused(1, keyed{path: approvals["key-yes"] + "/deny", key: "yes", body: reason})
	w.refused(1, keyed{path: approvals["key-other"] + "/approve", key: "yes", body: reason})
	w.taken(1, keyed{path: approvals["key-tenant"] + "/approve", key: "yes", body: reason})
	w.taken(1, keyed{path: approvals["key-no"] + "/deny", key: "no"})
	w.refused(0, keyed{path: approvals["key-no"] + "/approve", key: "no"})
	w.taken(1, keyed{path: "/v1/runs/key-other/cancel", key: "stop"})
	w.refused(0, keyed{path: "/v1/runs/key-yes/cancel", key: "stop"})
	w.refused(0, keyed{path: approvals["key-other"] + "/deny", key: "stop"})
	for id, status := range map[string]string{"key-yes": "completed", "key-no": "completed", "key-tenant": "completed", "key-other": "cancelled"} {
		w.nodes[0].awaitStatus(id, status)
	}
	w.heardAgain(0)
	w.heardAgain(1)
	for id, times := range map[string]int{"key-yes": 1, "key-tenant": 1, "key-no": 0, "key-other": 0} {
		if all := w.deeds(id); len(all) != times {
			t.Errorf("run %s did %v, want %d", id, all, times)
		}
	}
}

// createOnce sends one request many times at once to both nodes.
func (w *twoNodes) createOnce(t *testing.T) {
	k := keyed{path: "/v1/runs", key: "make-once", body: ask("deed once", map[string]any{"user_key": "t1:user", "metadata": map[string]any{}})}
	var all sync.WaitGroup
	got := make([]reply, 20)
	for i := range got {
		all.Go(func() { got[i] = w.under(i%2, k) })
	}
	all.Wait()
	ids := map[string]int{}
	for _, one := range got {
		if one.err != nil || one.status != 200 {
			t.Fatalf("create: %v", one)
		}
		ids[fmt.Sprint(w.nodes[0].object(one.raw)["run_id"])]++
	}
	if len(ids) != 1 {
		t.Errorf("one key made the runs %v", ids)
	}
	w.refused(1, keyed{path: "/v1/runs", key: "make-once", body: questionOf("t1", "another", "deed another")})
	for id := range ids {
		w.nodes[1].awaitStatus(id, "completed")
	}
	w.keys = append(w.keys, k)
	if all := w.deeds("once"); len(all) != 1 {
		t.Errorf("deeds %v", all)
	}
}

// streamOnce sends one question to both nodes while its run is under way: both read the same, and the second reader may
// leave.
func (w *twoNodes) streamOnce(t *testing.T) {
	body := ask("think streamed deed streamed", map[string]any{"user_key": "t1:user", "metadata": map[string]any{}})
	key := []string{"Idempotency-Key", "stream-once"}
	first := w.nodes[0].stream(body, key...)
	begin := first.until("session_start")
	again, leaves := w.nodes[1].stream(body, key...), w.nodes[1].stream(body, key...)
	leaves.until("session_start")
	leaves.body.Close()
	w.letPass("streamed")
	log := raws(append(begin, first.rest()...))
	for name, read := range map[string][]frame{"under way": again.rest(), "after the end": w.nodes[1].stream(body, key...).rest()} {
		if diff := cmp.Diff(log, raws(read)); diff != "" {
			t.Errorf("asked again at node 2 %s (-node 1 +node 2):\n%s", name, diff)
		}
	}
	if all := w.deeds("streamed"); len(all) != 1 {
		t.Errorf("deeds %v", all)
	}
}
