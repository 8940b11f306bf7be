package blackbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
)

func TestOfFiftyAnswersOneWinsAndTheToolRunsAtMostOnce(t *testing.T) {
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	s.request("POST", "/v1/runs", ask("bump", map[string]any{"metadata": map[string]any{"run_id": "raced"}}))
	id := pendingID(t, newFrames(t, s.open("GET", "/v1/runs/raced/stream", nil).Body))
	var mu sync.Mutex
	said := map[string]int{}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			word := []string{"approve", "deny"}[i%2]
			status, _ := s.request("POST", "/v1/approvals/"+id+"/"+word, nil)
			mu.Lock()
			defer mu.Unlock()
			said[fmt.Sprint(word, status)]++
		})
	}
	all.Wait()
	s.awaitStatus("raced", "completed")
	_, raw := s.request("GET", "/v1/approvals/"+id, nil)
	won, lost, runs := "approve", "deny", 1
	if s.object(raw)["approval"].(map[string]any)["status"] == "denied" {
		won, lost, runs = "deny", "approve", 0
	}
	if said[won+"200"] != 25 || said[lost+"409"] != 25 {
		t.Errorf("%s won, and the answers were %v", won, said)
	}
	if n := len(received(t, s.oracleLog())); n != runs {
		t.Errorf("the tool ran %d times, want %d", n, runs)
	}
}

func TestThePersonSeesTheArgumentsThatRunScopeIncluded(t *testing.T) {
	model := newModel(t, func(a asked) said {
		if a.step() == 0 {
			return call("pska_pska_search", `{"user_id":"somebody else","query":"q","source_item_ids":["src_evil","src_b"]}`)
		}
		return said{text: "done"}
	})
	s := start(t, model, "policy: {tool_rules: {pska_search: require_approval}}\napprovals: {timeout: 60s}\n")
	stream := s.stream(ask("Question", map[string]any{"tool_policy": scoped("hard")}))
	id := pendingID(t, stream)
	_, raw := s.request("GET", "/v1/approvals/"+id, nil)
	record := s.object(raw)["approval"].(map[string]any)
	s.request("POST", "/v1/approvals/"+id+"/approve", nil)
	stream.rest()
	calls := received(t, s.oracleLog())
	if len(calls) != 1 {
		t.Fatalf("the server received %d calls", len(calls))
	}
	arrived := sorted(t, calls[0]["arguments"])
	sum := sha256.Sum256(arrived)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != record["args_digest"] {
		t.Errorf("digest of what arrived is %s, of what was shown %v", got, record["args_digest"])
	}
	if shown := sorted(t, mustJSON(t, record["tool_args"])); !bytes.Equal(shown, arrived) {
		t.Errorf("shown:\n%s\narrived:\n%s", shown, arrived)
	}
	if bytes.Contains(arrived, []byte("evil")) || bytes.Contains(arrived, []byte("somebody else")) {
		t.Errorf("the scope was not applied: %s", arrived)
	}
}

// sorted is JSON without white space, its keys in order.
func sorted(t *testing.T, raw []byte) []byte {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return mustJSON(t, value)
}
