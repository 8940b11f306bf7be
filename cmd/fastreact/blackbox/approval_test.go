package blackbox

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// bumpThenAnswer is a model that counts one and then answers with what it heard.
func bumpThenAnswer(a asked) said {
	if a.step() == 0 {
		return call("pska_bump", `{}`)
	}
	return said{text: "done"}
}

const askForBump = `policy: {tool_rules: {bump: require_approval}}
approvals: {timeout: %s}
`

func approvalConfig(timeout string) string { return strings.Replace(askForBump, "%s", timeout, 1) }

// pendingID reads the stream up to the question and returns the approval's id.
func pendingID(t *testing.T, stream *frames) string {
	t.Helper()
	all := stream.until("ask_user")
	id, _ := all[len(all)-1].json(t)["approval_request_id"].(string)
	if id == "" {
		t.Fatalf("ask_user without an id: %s", all[len(all)-1].raw)
	}
	return id
}

func TestApprovedCallRunsWhileTheStreamStaysOpen(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	stream := s.stream(ask("bump", nil))
	id := pendingID(t, stream)
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Fatalf("the tool ran before anybody approved: %v", calls)
	}
	status, raw := s.request("POST", "/v1/approvals/"+id+"/approve", map[string]any{"reason": "operator approved in PSKA review UI"})
	if status != 200 || s.object(raw)["approved"] != true {
		t.Fatalf("approve: %d %s", status, raw)
	}
	all := stream.rest()
	if n := len(received(t, s.oracleLog())); n != 1 {
		t.Errorf("the tool ran %d times, want 1", n)
	}
	if metadata := of(all, "tool_result")[0].json(t)["metadata"].(map[string]any); metadata["approved"] != true {
		t.Errorf("tool_result metadata %v", metadata)
	}
	if status, _ := s.request("POST", "/v1/approvals/"+id+"/approve", nil); status != 200 {
		t.Errorf("the same decision again: %d, want 200", status)
	}
	if status, _ := s.request("POST", "/v1/approvals/"+id+"/deny", nil); status != 409 {
		t.Errorf("the opposite decision: %d, want 409", status)
	}
}

func TestDeniedCallNeverRuns(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	stream := s.stream(ask("bump", nil))
	id := pendingID(t, stream)
	s.request("POST", "/v1/approvals/"+id+"/deny", map[string]any{"reason": "not today"})
	result := of(stream.rest(), "tool_result")[0].json(t)
	if !strings.HasPrefix(result["content"].(string), "[SAFETY_DENIED]") {
		t.Errorf("result is %q", result["content"])
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the server received %v", calls)
	}
}

func TestUnansweredCallExpiresAndIsDenied(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("2s"))
	stream := s.stream(ask("bump", nil))
	id := pendingID(t, stream)
	result := of(stream.rest(), "tool_result")[0].json(t)
	if text := result["content"].(string); !strings.HasPrefix(text, "[SAFETY_DENIED]") || !strings.Contains(text, "expired") {
		t.Errorf("result is %q", text)
	}
	_, raw := s.request("GET", "/v1/approvals/"+id, nil)
	record := s.object(raw)["approval"].(map[string]any)
	if record["status"] != "expired" || record["approved"] != false || record["resolution_reason"] != "approval_timeout" {
		t.Errorf("record is %s", raw)
	}
	if status, _ := s.request("POST", "/v1/approvals/"+id+"/approve", nil); status != 409 {
		t.Errorf("approve after expiry: %d, want 409", status)
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the server received %v", calls)
	}
}

func TestCancelWhileWaitingSettlesTheApproval(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	stream := s.stream(ask("bump", map[string]any{"metadata": map[string]any{"run_id": "run-cancel"}}))
	id := pendingID(t, stream)
	if status, raw := s.request("POST", "/v1/runs/run-cancel/cancel", nil); status != 200 {
		t.Fatalf("cancel: %d %s", status, raw)
	}
	all := stream.rest()
	last := of(all, "error")
	if len(last) != 1 || last[0].json(t)["content"] != "Run cancelled" {
		t.Errorf("events after cancel: %v", kinds(all))
	}
	if len(of(all, "tool_result")) != 1 {
		t.Errorf("the open call was not answered: %v", kinds(all))
	}
	_, raw := s.request("GET", "/v1/approvals/"+id, nil)
	if status := s.object(raw)["approval"].(map[string]any)["status"]; status != "cancelled" {
		t.Errorf("approval is %v", status)
	}
}

func TestParkedBackgroundRunSurvivesKillNine(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	body := ask("bump", map[string]any{"metadata": map[string]any{"run_id": "run-parked"}})
	if status, raw := s.request("POST", "/v1/runs", body); status != 200 {
		t.Fatalf("submit: %d %s", status, raw)
	}
	stream := newFrames(t, s.open("GET", "/v1/runs/run-parked/stream", nil).Body)
	before := stream.until("ask_user")
	id := before[len(before)-1].json(t)["approval_request_id"].(string)
	s.kill()
	s.run()
	if status, raw := s.request("POST", "/v1/approvals/"+id+"/approve", nil); status != 200 {
		t.Fatalf("approve after restart: %d %s", status, raw)
	}
	after := newFrames(t, s.open("GET", "/v1/runs/run-parked/stream", nil).Body).rest()
	if len(after) <= len(before) {
		t.Fatalf("events after restart: %v", kinds(after))
	}
	for i, f := range before {
		if after[i].raw != f.raw {
			t.Errorf("event %d changed:\n%s\n%s", i, f.raw, after[i].raw)
		}
	}
	for i, f := range after[:len(after)-1] {
		if f.json(t)["sequence"] != float64(i) {
			t.Errorf("event %d has sequence %v", i, f.json(t)["sequence"])
		}
	}
	if n := len(received(t, s.oracleLog())); n != 1 {
		t.Errorf("the tool ran %d times, want 1", n)
	}
	s.awaitStatus("run-parked", "completed")
}

// awaitStatus polls until the run has the status.
func (s *service) awaitStatus(id, want string) map[string]any {
	s.t.Helper()
	var snapshot map[string]any
	s.await(30*time.Second, func() (bool, string) {
		_, raw := s.request("GET", "/v1/runs/"+id, nil)
		snapshot = s.object(raw)
		return snapshot["status"] == want, fmt.Sprintf("run %s is not %s: %s", id, want, raw)
	})
	return snapshot
}

func TestARunGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(held) })
	t.Cleanup(letGo)
	s := start(t, newModel(t, func(asked) said { <-held; return said{text: "late"} }), "")
	body := ask("wait", map[string]any{"metadata": map[string]any{"run_id": "run-cut"}})
	s.request("POST", "/v1/runs", body)
	s.awaitStatus("run-cut", "running")
	s.kill()
	letGo()
	s.run()
	if snapshot := s.awaitStatus("run-cut", "completed"); snapshot["attempts"] != 2.0 {
		t.Errorf("snapshot %v", snapshot)
	}
}
