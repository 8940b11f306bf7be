package blackbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

func TestThePersonSeesTheArgumentsThatRunScopeIncluded(t *testing.T) {
	t.Parallel()
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
