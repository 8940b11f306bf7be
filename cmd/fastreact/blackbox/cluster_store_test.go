package blackbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// databaseLeaves takes the database away from both nodes while one drives a run, in two ways: nobody may connect, and
// nobody may write. Nothing that a client saw is lost, /ready says what is wrong, and the run goes on by itself.
func (w *twoNodes) databaseLeaves(t *testing.T) {
	for name, way := range map[string]struct{ begin, end string }{
		"closed":    {"ALLOW_CONNECTIONS false", "ALLOW_CONNECTIONS true"},
		"read-only": {"SET default_transaction_read_only = on", "RESET default_transaction_read_only"},
	} {
		id := "away-" + name
		seen := w.chat(0, id, fmt.Sprintf("deed %s; think %[1]s deed %[1]s-after", id))
		begin := seen.until("tool_result")
		w.alter(way.begin)
		for i, n := range w.nodes {
			w.awaitReady(i, func(status string, store map[string]any) bool {
				said, _ := store["last_error"].(string)
				return status == "degraded" && store["ready"] == false && said != ""
			})
			status, raw := n.request("POST", "/v1/runs", ask("deed refused", nil))
			if status != 503 || !strings.Contains(string(raw), "store_unavailable") {
				t.Errorf("%s: a run that cannot be stored gets %d %s", name, status, raw)
			}
		}
		w.alter(way.end)
		for i := range w.nodes {
			w.awaitReady(i, func(status string, store map[string]any) bool { return status == "ready" && store["ready"] == true })
		}
		w.letPass(id)
		w.nodes[1].awaitStatus(id, "completed")
		log := raws(w.endedOnce(1, id, "session_end"))
		read := raws(append(begin, seen.rest()...))
		if diff := cmp.Diff(log[:min(len(read), len(log))], read); diff != "" {
			t.Errorf("%s (-log +what the client saw):\n%s", name, diff)
		}
		for _, deed := range []string{id, id + "-after"} {
			if n := len(w.deeds(deed)); n != 1 {
				t.Errorf("%s: %s happened %d times", name, deed, n)
			}
		}
	}
	if n := len(w.deeds("refused")); n != 0 {
		t.Errorf("a run that was refused ran %d times", n)
	}
}

// alter changes the database and ends every connection to it.
func (w *twoNodes) alter(change string) {
	w.t.Helper()
	for _, statement := range []string{
		fmt.Sprintf(`ALTER DATABASE %s %s`, w.base, change),
		fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'`, w.base),
	} {
		if _, err := w.server.SQL("postgres", statement); err != nil {
			w.t.Fatal(err)
		}
	}
}

// awaitReady waits until a node's readiness is as wanted.
func (w *twoNodes) awaitReady(node int, wanted func(status string, store map[string]any) bool) {
	w.t.Helper()
	w.nodes[node].await(waitLimit, func() (bool, string) {
		_, raw := w.nodes[node].request("GET", "/ready", nil)
		body := w.nodes[node].object(raw)
		status, _ := body["status"].(string)
		store, _ := body["store"].(map[string]any)
		return wanted(status, store), string(raw)
	})
}

// namesakesAreTold looks at two nodes that have the machine's name both.
func (w *twoNodes) namesakesAreTold(*testing.T) {
	for i := range w.nodes {
		w.awaitReady(i, func(_ string, store map[string]any) bool {
			nodes, _ := store["nodes"].([]any)
			return store["same_name"] == true && len(nodes) == len(w.nodes)
		})
	}
	w.nodes[0].await(waitLimit, func() (bool, string) {
		said := w.nodes[0].output.String()
		return strings.Contains(said, "another node has the name of this one"), said
	})
}
