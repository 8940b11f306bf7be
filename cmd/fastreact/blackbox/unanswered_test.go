package blackbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// twoThenAnswer is a model that asks for two tools at once and then answers.
func twoThenAnswer(a asked) said {
	if a.step() == 0 && strings.HasPrefix(a.question(), "both") {
		return said{calls: []wish{{"call_a", "pska_pska_search", `{"query":"x"}`}, {"call_b", "pska_bump", `{}`}}}
	}
	return said{text: "done"}
}

// results are the ids that the tool messages of the last request answer.
func (m *scriptedModel) results() []string {
	requests := m.requests()
	var ids []string
	for _, message := range requests[len(requests)-1].Messages {
		if message.Role == "tool" {
			ids = append(ids, message.ToolCallID)
		}
	}
	return ids
}

// TestNoParallelCallIsLeftUnanswered holds every request to a strict vendor's order, whatever became of a call of two.
func TestNoParallelCallIsLeftUnanswered(t *testing.T) {
	t.Parallel()
	both := []string{"call_a", "call_b"}
	for name, settle := range map[string]func(s *service, id string){
		"approved": func(s *service, id string) { s.request("POST", "/v1/approvals/"+id+"/approve", nil) },
		"denied":   func(s *service, id string) { s.request("POST", "/v1/approvals/"+id+"/deny", nil) },
		"expired":  func(*service, string) {},
		"denied after kill -9": func(s *service, id string) {
			s.kill()
			s.run()
			s.request("POST", "/v1/approvals/"+id+"/deny", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			model := strict(t, newModel(t, twoThenAnswer).URL)
			patience := "60s"
			if name == "expired" {
				patience = "1s"
			}
			s := start(t, model.scriptedModel, approvalConfig(patience))
			s.request("POST", "/v1/runs", ask("both", map[string]any{"metadata": map[string]any{"run_id": "r"}}))
			stream := newFrames(t, s.open("GET", "/v1/runs/r/stream", nil).Body)
			settle(s, pendingID(t, stream))
			s.awaitStatus("r", "completed")
			if got := model.results(); !slices.Equal(got, both) {
				t.Errorf("answered %v", got)
			}
		})
	}
}

// TestACancelledCallIsNoBurdenForTheNextRun cancels between a call and its result, and goes on in the same session with
// its memory, and with a history that the caller kept.
func TestACancelledCallIsNoBurdenForTheNextRun(t *testing.T) {
	t.Parallel()
	model := strict(t, newModel(t, twoThenAnswer).URL)
	s := start(t, model.scriptedModel, approvalConfig("60s"))
	remembering := func(id string) map[string]any {
		return map[string]any{"session_id": "one", "metadata": map[string]any{"run_id": id, "session_memory": true}}
	}
	stream := s.stream(ask("both", remembering("first")))
	pendingID(t, stream)
	if status, raw := s.request("POST", "/v1/runs/first/cancel", map[string]any{}); status != 200 {
		t.Fatalf("cancel: %d %s", status, raw)
	}
	all := stream.rest()
	if calls, results := len(of(all, "tool_result")), 2; calls != results {
		t.Errorf("%d results, want %d: %v", calls, results, kinds(all))
	}
	if last, _ := s.end("and now", remembering("second")); last["content"] != "done" {
		t.Errorf("the next run ended with %v", last)
	}
	history := []any{
		map[string]any{"role": "user", "content": "earlier"},
		map[string]any{"role": "assistant", "content": "", "tool_calls": []any{
			map[string]any{"id": "old_1", "type": "function", "function": map[string]any{"name": "pska_bump", "arguments": "{}"}},
			map[string]any{"id": "old_2", "type": "function", "function": map[string]any{"name": "pska_bump", "arguments": `{"a":`}},
		}},
		map[string]any{"role": "tool", "tool_call_id": "old_2", "content": "two"},
		map[string]any{"role": "assistant", "content": ""},
		map[string]any{"role": "tool", "tool_call_id": "nobody", "content": "lost"},
		map[string]any{"role": "user", "content": "go on"},
	}
	if last, _ := s.end("go on", map[string]any{"messages": history}); last["content"] != "done" {
		t.Errorf("the run with a history ended with %v", last)
	}
}

// TestAModelThatIsAskedAgainAfterAStopGetsAWholeConversation stops the service between the calls of a run and starts
// it again.
func TestAModelThatIsAskedAgainAfterAStopGetsAWholeConversation(t *testing.T) {
	t.Parallel()
	model := strict(t, newModel(t, twoThenAnswer).URL)
	s := start(t, model.scriptedModel, approvalConfig("60s"))
	for i := range 4 {
		id := fmt.Sprintf("r%d", i)
		s.request("POST", "/v1/runs", ask("both", map[string]any{
			"session_id": "s", "metadata": map[string]any{"run_id": id},
		}))
	}
	stream := newFrames(t, s.open("GET", "/v1/runs/r0/stream", nil).Body)
	pendingID(t, stream)
	s.kill()
	s.run()
	s.await(30*time.Second, func() (bool, string) {
		_, raw := s.request("GET", "/v1/approvals?status=pending", nil)
		for _, one := range s.object(raw)["approvals"].([]any) {
			id, _ := one.(map[string]any)["request_id"].(string)
			s.request("POST", "/v1/approvals/"+id+"/approve", nil)
		}
		_, list := s.request("GET", "/v1/runs?session_id=s", nil)
		over := strings.Count(string(list), `"completed"`) + strings.Count(string(list), `"failed"`)
		return over == 4, fmt.Sprintf("not over: %s", list)
	})
}
