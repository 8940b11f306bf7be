package blackbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

// TestATurnOfTheDemoAgentWaitsForAPerson drives the deterministic agent from an objective to its end.
func TestATurnOfTheDemoAgentWaitsForAPerson(t *testing.T) {
	t.Parallel()
	all := map[string]specimen.Workspace{"harbour": specimen.Harbour(), "hostile": specimen.Hostile()}
	s := startTools(t, all, "active: harbour", "telemetry: {log_level: debug}\n")
	sub := func(name string, fact func(*testing.T, *station)) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			fact(t, s)
		})
	}
	sub("eighteen events to the decision and twenty-two to the end", turnTellsItsEvents)
	sub("what matches nothing ends honestly", turnWithoutAMatch)
	sub("a hostile investigation changes neither plan nor steps nor rights", hostileTurnIsATurn)
	sub("nothing of it is kept beside the books and the plan", nothingIsKept)
}

// demoSteps are the tools that the deterministic agent uses.
func demoSteps() []string {
	return []string{"investigation.search", "graph.get_node", "graph.get_neighbors", "provenance.trace", "research.prepare"}
}

// retold is an event without what differs from run to run.
func retold(e map[string]any) string {
	return fmt.Sprintf("%v %s", e["kind"], e["payload"])
}

// checkSequence wants a whole envelope around each event, and sequences without a gap.
func checkSequence(t *testing.T, turn any, after int, events []map[string]any) {
	t.Helper()
	for i, e := range events {
		want := map[string]any{
			"contract": "labfy.agent_tool_protocol.v1", "sequence": float64(after + i + 1), "timestamp": e["timestamp"],
			"kind": e["kind"], "turn_id": turn, "call_id": e["call_id"], "object_refs": e["object_refs"], "payload": e["payload"],
		}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
		if !timeForm.MatchString(fmt.Sprint(e["timestamp"])) {
			t.Errorf("event %d is of %v", i, e["timestamp"])
		}
		if _, list := e["object_refs"].([]any); !list {
			t.Errorf("event %d refers to %v", i, e["object_refs"])
		}
		ofCall := strings.HasPrefix(fmt.Sprint(e["kind"]), "agent.tool.") || e["kind"] == "agent.authorization.required"
		if ofCall != uuidForm.MatchString(fmt.Sprint(e["call_id"])) {
			t.Errorf("event %d, %v, has the call %v", i, e["kind"], e["call_id"])
		}
	}
}

// checkSteps wants requested, started and completed of each tool, one call after the other, and returns the results.
func checkSteps(t *testing.T, events []map[string]any, tools []string) (results []string) {
	t.Helper()
	for i, tool := range tools {
		three := events[3*i : 3*i+3]
		id := fmt.Sprint(three[2]["payload"].(map[string]any)["result_id"])
		state := "COMPLETED"
		if tool == "research.prepare" {
			state = "AUTHORIZATION_REQUIRED"
		}
		asked, ended := map[string]any{"tool_id": tool}, map[string]any{"tool_id": tool, "result_id": id, "state": state}
		got := []string{retold(three[0]), retold(three[1]), retold(three[2])}
		want := []string{
			fmt.Sprintf("agent.tool.requested %s", asked), fmt.Sprintf("agent.tool.started %s", asked),
			fmt.Sprintf("agent.tool.completed %s", ended),
		}
		if diff := cmp.Diff(want, got); diff != "" || three[0]["call_id"] != three[2]["call_id"] {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
		results = append(results, id)
	}
	return results
}

func turnTellsItsEvents(t *testing.T, s *station) {
	const objective = "harbour"
	turn := s.did(http.StatusCreated, toolsPath+"/turns", map[string]any{"objective": objective})
	id, plan := turn["turn_id"].(string), s.see("/api/v1/research")
	want := map[string]any{
		"contract": "labfy.agent_tool_protocol.v1", "turn_id": id, "state": "AUTHORIZATION_REQUIRED", "research_plan": plan,
	}
	if diff := cmp.Diff(want, turn); diff != "" || !uuidForm.MatchString(id) {
		t.Fatalf("turn (-want +got):\n%s", diff)
	}
	events, newest, gap := s.happened(0)
	if len(events) != 18 || newest != 18 || gap {
		t.Fatalf("%d events to %d, gap %v", len(events), newest, gap)
	}
	checkSequence(t, id, 0, events)
	if got := retold(events[0]); got != fmt.Sprintf("agent.turn.started %s", map[string]any{"objective": objective}) {
		t.Errorf("the first event: %s", got)
	}
	steps := []any{}
	for _, step := range demoSteps() {
		steps = append(steps, step)
	}
	if diff := cmp.Diff(any(map[string]any{"steps": steps}), events[1]["payload"]); diff != "" || events[1]["kind"] != "agent.plan.updated" {
		t.Errorf("the second event, %v (-want +got):\n%s", events[1]["kind"], diff)
	}
	results := checkSteps(t, events[2:17], demoSteps())
	last := map[string]any{"reason": "human_grant_required", "result_id": results[4]}
	if got := retold(events[17]); got != fmt.Sprintf("agent.authorization.required %s", last) || events[17]["call_id"] != events[16]["call_id"] {
		t.Errorf("the last event: %s", got)
	}
	checkCursors(t, s, events)
	checkUndecided(t, plan)
	s.resumeAfterDecision(t, id, plan)
}

// checkCursors reads the events from every place on.
func checkCursors(t *testing.T, s *station, events []map[string]any) {
	t.Helper()
	for _, cursor := range []int{0, 1, 17, 18, 19, 1 << 40} {
		page, newest, gap := s.happened(cursor)
		want := events[min(cursor, 18):]
		if diff := cmp.Diff(len(want), len(page)); diff != "" || newest != 18 || gap {
			t.Errorf("after %d: %d events to %d, gap %v", cursor, len(page), newest, gap)
		}
		if len(want) > 0 && page[0]["sequence"] != want[0]["sequence"] {
			t.Errorf("after %d: begins with %v", cursor, page[0]["sequence"])
		}
	}
}

// checkUndecided wants a plan that nobody has decided and that has contacted nobody.
func checkUndecided(t *testing.T, plan map[string]any) {
	t.Helper()
	actions := plan["actions"].([]any)
	if plan["state"] != "PREPARED" || len(actions) != 3 || len(plan["grants"].([]any)) != 0 {
		t.Fatalf("plan: %v", plan)
	}
	if campaigns, _ := plan["campaigns"].([]any); len(campaigns) != 0 {
		t.Errorf("campaigns: %v", campaigns)
	}
	for i, one := range actions {
		action := one.(map[string]any)
		if action["decision"] != "DEFER" || action["contacted"] != false || action["result_status"] != nil || action["wave"] != float64(i+1) {
			t.Errorf("action %d: %v", i, action)
		}
	}
}

// resumeAfterDecision asks for the resumption too early, in each way, and then in time.
func (s *station) resumeAfterDecision(t *testing.T, turn string, plan map[string]any) {
	t.Helper()
	resume := toolsPath + "/turns/" + turn + "/resume"
	early := func(when string) {
		t.Helper()
		if got := s.post(resume, "{}"); got.outcome() != "409 agent_turn_not_granted" {
			t.Errorf("resume %s: %d %s", when, got.status, got.raw)
		}
	}
	early("without a grant")
	granted := s.did(200, "/api/v1/research/grants", decision(plan, 1))
	early("without a campaign")
	s.did(200, "/api/v1/research/campaigns", launch(granted, 1))
	if events, _, _ := s.happened(18); len(events) != 0 {
		t.Errorf("refused resumptions told %v", events)
	}
	got := s.did(200, resume, "{}")
	want := map[string]any{"contract": "labfy.agent_tool_protocol.v1", "turn_id": turn, "state": "COMPLETED"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resumed (-want +got):\n%s", diff)
	}
	events, newest, _ := s.happened(18)
	if len(events) != 4 || newest != 22 {
		t.Fatalf("%d events to %d", len(events), newest)
	}
	checkSequence(t, turn, 18, events)
	result := checkSteps(t, events, []string{"research.get_state"})[0]
	if read := s.see(toolsPath + "/results/" + result)["output"].(map[string]any); len(read["grants"].([]any)) != 1 {
		t.Errorf("the agent read %v", read)
	}
	summary, _ := events[3]["payload"].(map[string]any)["summary"].(string)
	if events[3]["kind"] != "agent.turn.completed" || summary == "" || len(events[3]["payload"].(map[string]any)) != 1 {
		t.Errorf("the end: %s", retold(events[3]))
	}
	if got := s.post(resume, "{}"); got.outcome() != "409 agent_turn_not_waiting" {
		t.Errorf("resumed twice: %d %s", got.status, got.raw)
	}
}

func turnWithoutAMatch(t *testing.T, s *station) {
	_, before, _ := s.happened(0)
	plan := s.see("/api/v1/research")["plan_id"]
	turn := s.did(http.StatusCreated, toolsPath+"/turns", map[string]any{"objective": "nothing is called so"})
	if turn["state"] != "FAILED" || turn["research_plan"] != nil {
		t.Errorf("turn: %v", turn)
	}
	events, _, _ := s.happened(before)
	if len(events) != 6 || events[5]["kind"] != "agent.error" {
		t.Fatalf("events: %v", events)
	}
	checkSequence(t, turn["turn_id"], before, events[:5])
	payload := events[5]["payload"].(map[string]any)
	if len(payload) != 2 || payload["code"] != "agent_no_match" || payload["message"] == "" {
		t.Errorf("the error: %v", payload)
	}
	if got := s.post(toolsPath+"/turns/"+turn["turn_id"].(string)+"/resume", "{}"); got.outcome() != "409 agent_turn_not_waiting" {
		t.Errorf("resume: %d %s", got.status, got.raw)
	}
	if after := s.see("/api/v1/research")["plan_id"]; after != plan {
		t.Errorf("a plan was made: %v", after)
	}
}

// actionsOf are the ids of a plan's actions, in the order of their waves.
func actionsOf(plan map[string]any) (ids []string) {
	for _, one := range plan["actions"].([]any) {
		ids = append(ids, one.(map[string]any)["action_id"].(string))
	}
	return ids
}

// decision authorises the first n actions of a plan.
func decision(plan map[string]any, n int) map[string]any {
	ids := actionsOf(plan)
	decisions := []any{}
	for _, id := range ids[:n] {
		decisions = append(decisions, map[string]any{"action_id": id, "decision": "AUTHORIZE"})
	}
	return map[string]any{
		"plan_id": plan["plan_id"], "input_revision": plan["input_revision"], "selected_action_ids": ids[:n],
		"decisions": decisions, "exclusions": []any{}, "idempotency_key": uuid(),
	}
}

// launch is a campaign of one wave under the newest grant.
func launch(plan map[string]any, wave int) map[string]any {
	return map[string]any{
		"grant_id":       plan["grants"].([]any)[0].(map[string]any)["grant_id"],
		"input_revision": plan["input_revision"], "action_ids": actionsOf(plan)[wave-1 : wave], "idempotency_key": uuid(),
	}
}
