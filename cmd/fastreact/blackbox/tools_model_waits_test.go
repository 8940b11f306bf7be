package blackbox

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

// cancelBeatsALateAnswer holds the model's answer until the turn is cancelled, and fills the queue meanwhile.
func cancelBeatsALateAnswer(t *testing.T, s *station, model *parrot) {
	release, asked := make(chan struct{}), make(chan struct{}, 1)
	late := wishes("research.prepare", map[string]any{"selection_ids": []string{graphOf(t, specimen.Hostile()).Nodes[0].ID}, "question": "Late?", "exclusions": []string{}})
	model.answers(func(w http.ResponseWriter, objective string, _ int) {
		if objective == "late" {
			asked <- struct{}{}
			<-release
			complete(w, late)
			return
		}
		complete(w, ends("done"))
	})
	plan := s.see("/api/v1/research")["plan_id"]
	id := s.begin("late")
	<-asked
	s.awaitTurn(id, "RUNNING")
	var queued []string
	for n := range 8 {
		queued = append(queued, s.begin(fmt.Sprint("queued ", n)))
	}
	if got := s.post(runtimePath+"/turns", map[string]any{"objective": "one too many"}); got.outcome() != "429 agent_runtime_queue_full" {
		t.Errorf("the ninth in the queue: %d %s", got.status, got.raw)
	}
	if turn := s.did(200, runtimePath+"/turns/"+queued[0]+"/cancel", "{}"); turn["state"] != "CANCELLED" {
		t.Errorf("a queued turn: %v", turn)
	}
	if turn := s.did(200, runtimePath+"/turns/"+id+"/cancel", "{}"); turn["state"] != "CANCELLED" || turn["final"] != nil {
		t.Errorf("a running turn: %v", turn)
	}
	close(release)
	for _, other := range queued[1:] {
		s.awaitTurn(other, "COMPLETED")
	}
	for _, cancelled := range []string{id, queued[0]} {
		if turn := s.see(runtimePath + "/turns/" + cancelled); turn["state"] != "CANCELLED" {
			t.Errorf("after the late answer: %v", turn)
		}
	}
	if diff := cmp.Diff([]string{"queued", "running", "cancelled"}, s.kindsOf(id)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if len(model.asked("queued 0")) != 0 || s.see("/api/v1/research")["plan_id"] != plan {
		t.Error("a cancelled turn did something")
	}
	if turn := s.did(200, runtimePath+"/turns/"+queued[1]+"/cancel", "{}"); turn["state"] != "COMPLETED" {
		t.Errorf("a turn that is over: %v", turn)
	}
}

// modelWaitsForAPerson lets the model prepare research, and a person decide.
func modelWaitsForAPerson(t *testing.T, s *station, model *parrot) {
	const objective = "prepare"
	object := graphOf(t, specimen.Hostile()).Nodes[0].ID
	model.saying(wishes("research.prepare", map[string]any{"selection_ids": []string{object}, "question": "Who?", "exclusions": []string{}}), ends("A person has decided."))
	id := s.begin(objective)
	turn := s.awaitTurn(id, "AUTHORIZATION_REQUIRED")
	pending, _ := turn["pending_call"].(map[string]any)
	if pending["tool_id"] != "research.prepare" || !uuidForm.MatchString(fmt.Sprint(pending["result_id"])) || len(pending) != 2 {
		t.Errorf("pending: %v", pending)
	}
	resume := runtimePath + "/turns/" + id + "/resume"
	early := func(when string) {
		t.Helper()
		if got := s.post(resume, "{}"); got.outcome() != "409 agent_runtime_not_granted" {
			t.Errorf("resume %s: %d %s", when, got.status, got.raw)
		}
		if now := s.see(runtimePath + "/turns/" + id); cmp.Diff(turn, now) != "" {
			t.Errorf("%s the turn does not wait: %v", when, now)
		}
	}
	early("without a grant")
	plan := s.see("/api/v1/research")
	checkUndecided(t, plan)
	granted := s.did(200, grantsPath, decision(plan, 1))
	early("without a campaign")
	launched := s.did(200, campaignsPath, launch(granted, 1))
	if action := launched["actions"].([]any)[0].(map[string]any); action["contacted"] != false || action["result_status"] != "UNAVAILABLE" || action["provider_id"] != "none" || action["contact"] != "NONE" {
		t.Errorf("without a provider: %v", action)
	}
	if asked := model.asked(objective); len(asked) != 1 {
		t.Errorf("the model was asked %d times while the turn waited", len(asked))
	}
	s.did(200, resume, "{}")
	if turn := s.awaitTurn(id, "COMPLETED"); turn["final"] != "A person has decided." || turn["pending_call"] != nil {
		t.Errorf("turn: %v", turn)
	}
	asked := model.asked(objective)
	told := asked[len(asked)-1].last()
	if len(asked) != 2 || told["tool_id"] != "research.get_state" || told["trust"] != "UNTRUSTED_DATA" {
		t.Errorf("%d requests, the last %v", len(asked), told)
	}
	want := []string{"queued", "running", "tool_requested", "tool_completed", "authorization_required", "resumed", "running", "tool_requested", "tool_completed", "completed"}
	if diff := cmp.Diff(want, s.kindsOf(id)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := s.post(resume, "{}"); got.outcome() != "409 agent_runtime_not_waiting" {
		t.Errorf("resumed twice: %d %s", got.status, got.raw)
	}
}

// budgetsEndATurn lets the model go on and on, read too much and say too much.
func budgetsEndATurn(t *testing.T, s *station, model *parrot) {
	model.saying(wishes("research.get_state", map[string]any{}))
	turn := s.awaitTurn(s.begin("on and on"), "BUDGET_EXHAUSTED")
	if asked := model.asked("on and on"); len(asked) != 8 || cmp.Diff(any(map[string]any{"model_calls": 8.0, "tool_calls": 8.0}), turn["budgets"]) != "" {
		t.Errorf("%d requests, %v", len(asked), turn["budgets"])
	}
	large, half := "entity:"+uuid(), "entity:"+uuid()
	node := func(id string, size int) string {
		return fmt.Sprintf(`{"id":%q,"object_kind":"entity","type":"t","label":"l","state":"s","group":"g","details":{"note":"%s"}}`, id, strings.Repeat("x", size))
	}
	core := `{"contract":"labfy.web_graph.snapshot.v3","origin":"core","revision":1,"nodes":[` + node(large, 131072) + "," + node(half, 70000) + `],"edges":[]}`
	if err := specimen.Write(filepath.Join(s.folder, "site-hostile"), specimen.Workspace{Core: []byte(core), Jobs: specimen.Hostile().Jobs}); err != nil {
		t.Fatal(err)
	}
	model.saying(wishes("graph.get_node", map[string]any{"object_id": large}), ends("read"))
	s.awaitTurn(s.begin("read 128 KiB"), "BUDGET_EXHAUSTED")
	if asked := model.asked("read 128 KiB"); len(asked) != 1 {
		t.Errorf("%d requests, want one: the second would be too large", len(asked))
	}
	model.saying(wishes("graph.get_node", map[string]any{"object_id": half}), wishes("evidence.get_summary", map[string]any{"object_id": half}), wishes("graph.get_node", map[string]any{"object_id": half}), ends("read"))
	s.awaitTurn(s.begin("read twice 70000"), "COMPLETED")
	for i, asked := range model.asked("read twice 70000") {
		if asked.size > 131072 {
			t.Errorf("request %d has %d bytes", i, asked.size)
		}
	}
	for size, state := range map[int]string{262144: "COMPLETED", 262145: "MODEL_PROTOCOL_ERROR"} {
		model.answers(func(w http.ResponseWriter, _ string, _ int) {
			text := `{"choices":[{"index":0,"message":{"role":"assistant","content":"{\"contract\":\"labfy.agent_model_action.v1\",\"kind\":\"final\",\"text\":\"read\"}"}}]}`
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, text+strings.Repeat(" ", size-len(text)))
		})
		s.awaitTurn(s.begin(fmt.Sprint("an answer of ", size)), state)
	}
	if err := specimen.Write(filepath.Join(s.folder, "site-hostile"), specimen.Hostile()); err != nil {
		t.Fatal(err)
	}
}

func runtimeTurnsLetTheFirstGo(t *testing.T, s *station, model *parrot) {
	model.saying(ends("done"))
	var turns []string
	for n := range 33 {
		turns = append(turns, s.begin(fmt.Sprint("turn ", n)))
		s.awaitTurn(turns[n], "COMPLETED")
	}
	for i, want := range map[int]string{0: "404 agent_runtime_unknown", 1: "200 ", 32: "200 "} {
		if got := s.send("GET", runtimePath+"/turns/"+turns[i], ""); got.outcome() != want {
			t.Errorf("turn %d of 33: %s, want %s", i+1, got.outcome(), want)
		}
	}
	page := s.see(runtimePath + "/events?cursor=0")
	if events := page["events"].([]any); len(events) != 128 || page["gap"] != true || page["transport"] != "HTTP_POLLING" {
		t.Errorf("%d events, gap %v", len(events), page["gap"])
	}
}

func runtimeEnvelopes(t *testing.T, s *station, model *parrot) {
	before := s.footprint()
	const invalid = "400 agent_runtime_invalid"
	for _, body := range []string{
		`{}`, `{"objective":null}`, `{"objective":7}`, `{"objective":" "}`, `{"objective":"a\u0000"}`, `{"objective":"a","more":1}`, `{"Objective":"a"}`,
		`{"objective":"a","idempotency_key":7}`, `{"objective":"` + strings.Repeat("é", 513) + `"}`,
	} {
		if got := s.post(runtimePath+"/turns", body); got.outcome() != invalid {
			t.Errorf("%.60s: %d %s", body, got.status, got.raw)
		}
	}
	for _, query := range []string{"?cursor=-1", "?cursor=x", "?more=1", "?cursor=1&cursor=2"} {
		if got := s.send("GET", runtimePath+"/events"+query, ""); got.outcome() != invalid {
			t.Errorf("events%s: %d %s", query, got.status, got.raw)
		}
	}
	for _, route := range []string{"GET ", "POST /resume", "POST /cancel"} {
		method, action, _ := strings.Cut(route, " ")
		ask := map[string]func(string) replied{
			"GET": func(path string) replied { return s.send("GET", path, "") }, "POST": func(path string) replied { return s.post(path, "{}") },
		}
		if got := ask[method](runtimePath + "/turns/" + uuid() + action); got.outcome() != "404 agent_runtime_unknown" {
			t.Errorf("%s of an unknown turn: %d %s", route, got.status, got.raw)
		}
	}
	if after := s.footprint(); after != before {
		t.Errorf("refusals left %s, before %s", after, before)
	}
	body := map[string]any{"objective": "with a key", "idempotency_key": uuid()}
	first := s.did(202, runtimePath+"/turns", body)
	s.awaitTurn(first["turn_id"].(string), "COMPLETED")
	if again := s.post(runtimePath+"/turns", body); s.object(again.raw)["turn_id"] != first["turn_id"] || len(model.asked("with a key")) != 1 {
		t.Errorf("the key again: %d %s", again.status, again.raw)
	}
	body["objective"] = "with the key of another"
	if got := s.post(runtimePath+"/turns", body); got.outcome() != "409 agent_runtime_idempotency_conflict" {
		t.Errorf("the key for another objective: %d %s", got.status, got.raw)
	}
}

// modelIsUnavailable answers in every way that is no answer, and goes away in the end.
func modelIsUnavailable(t *testing.T, s *station, model *parrot, elsewhere *archive) {
	for what, answer := range map[string]func(http.ResponseWriter){
		"a redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", elsewhere.URL+"/v1/chat/completions")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"a redirect to itself": func(w http.ResponseWriter) {
			w.Header().Set("Location", "/v1/chat/completions")
			w.WriteHeader(http.StatusPermanentRedirect)
		},
		"a failure": func(w http.ResponseWriter) {
			http.Error(w, "canary of the model's server", http.StatusInternalServerError)
		},
		"too many": func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
	} {
		model.answers(func(w http.ResponseWriter, _ string, _ int) { answer(w) })
		turn := s.awaitTurn(s.begin(what), "MODEL_UNAVAILABLE")
		if asked := model.asked(what); len(asked) != 1 || turn["diagnostic"] == nil || strings.Contains(fmt.Sprint(turn), "canary") {
			t.Errorf("%s: %d requests, %v", what, len(asked), turn)
		}
	}
	model.Close()
	s.awaitTurn(s.begin("nobody is there"), "MODEL_UNAVAILABLE")
	if status := s.see(runtimePath + "/status"); status["available"] != false || status["configured"] != true || status["reason"] == nil {
		t.Errorf("status: %v", status)
	}
}
