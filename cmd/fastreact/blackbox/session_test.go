package blackbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// spoken are the messages of a model request behind our own system words, as short text.
func (a asked) spoken() []string {
	var all []string
	for _, m := range a.Messages[1:] {
		var text string
		_ = json.Unmarshal(m.Content, &text)
		all = append(all, m.Role+": "+text)
	}
	return all
}

// system are our own system words.
func (a asked) system() string {
	var text string
	_ = json.Unmarshal(a.Messages[0].Content, &text)
	return text
}

// answering is a model that answers a question with its own words.
func answering(a asked) said { return said{text: "I heard " + a.question() + "."} }

// inSession is a question of a user in a session that remembers.
func inSession(question, session, user, tenant string) map[string]any {
	metadata := map[string]any{"session_memory": true}
	if tenant != "" {
		metadata["tenant_key"] = tenant
	}
	body := map[string]any{
		"messages":   []any{map[string]any{"role": "user", "content": question}},
		"session_id": session, "metadata": metadata,
	}
	if user != "" {
		body["user_key"] = user
	}
	return body
}

// chat asks and returns the whole answer.
func (s *service) chat(body map[string]any) map[string]any {
	s.t.Helper()
	status, raw := s.request("POST", "/v1/chat/completions", body)
	if status != 200 {
		s.t.Fatalf("chat: %d %s", status, raw)
	}
	return s.object(raw)
}

func TestASessionIsRememberedAcrossARestart(t *testing.T) {
	t.Parallel()
	model := newModel(t, answering)
	s := start(t, model, "")
	s.chat(inSession("one", "s", "pska:ann", ""))
	s.chat(inSession("two", "s", "pska:ann", ""))
	s.kill()
	s.run()
	answer := s.chat(inSession("three", "s", "pska:ann", ""))
	requests := model.requests()
	got := requests[len(requests)-1].spoken()
	want := []string{"user: one", "assistant: I heard one.", "user: two", "assistant: I heard two.", "user: three"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the model heard %q, want %q", got, want)
	}
	first := answer["events"].([]any)[0].(map[string]any)["metadata"].(map[string]any)["session_memory"].(map[string]any)
	if ids := first["run_ids"].([]any); len(ids) != 2 {
		t.Errorf("session_memory %v", first)
	}
}

func TestOneSessionIDOfManyUsersAndTenantsLeaksNothing(t *testing.T) {
	t.Parallel()
	model := newModel(t, answering)
	s := start(t, model, "", "FASTREACT_SERVICE_TOKEN=service-secret")
	s.token = "service-secret"
	type who struct{ user, tenant string }
	everyone := []who{
		{"", ""},
		{"", "pska"},
		{"", "other"},
		{"pska:ann", ""},
		{"pska:bob", ""},
		{"other:ann", ""},
		{"ann", "pska"},
		{"ann", "other"},
		{"ann", ""},
		{"pska:ann", "other"},
	}
	for round := range 2 {
		for i, w := range everyone {
			s.chat(inSession(fmt.Sprintf("word-%d-%d", i, round), "same-session", w.user, w.tenant))
		}
	}
	for _, request := range model.requests() {
		mine, _, _ := strings.Cut(strings.TrimPrefix(request.question(), "word-"), "-")
		for i := range everyone {
			if secret := fmt.Sprintf("word-%d-", i); fmt.Sprint(i) != mine && strings.Contains(string(request.raw), secret) {
				t.Errorf("the run of %v heard %s of %v", mine, secret, everyone[i])
			}
		}
	}
	last := model.requests()[len(everyone)]
	if got := last.spoken(); len(got) != 3 {
		t.Errorf("the first one's second run heard %q", got)
	}
}

func TestTwoRememberingRunsAtOnceFollowOneAnother(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	begun, letGo := make(chan string, 4), make(chan struct{})
	model := newModel(t, func(a asked) said {
		mu.Lock()
		defer mu.Unlock()
		begun <- a.question()
		<-letGo
		return answering(a)
	})
	s := start(t, model, "")
	var both sync.WaitGroup
	send := func(question string) {
		body := string(mustJSON(t, inSession(question, "s", "pska:ann", "")))
		body = strings.Replace(body, "{", `{"stream":true,`, 1)
		url := s.url
		both.Go(func() { readAll(url, body) })
	}
	send("one")
	<-begun
	send("two")
	s.await(10*time.Second, func() (bool, string) {
		_, raw := s.request("GET", "/v1/runs?session_id=s", nil)
		return s.object(raw)["count"] == 2.0, string(raw)
	})
	letGo <- struct{}{}
	<-begun
	letGo <- struct{}{}
	both.Wait()
	if got := fmt.Sprint(model.requests()[1].spoken()); got != "[user: one assistant: I heard one. user: two]" {
		t.Errorf("the second run heard %s", got)
	}
}

func TestABusySessionRefusesWhenAskedTo(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	defer close(held)
	s := start(t, newModel(t, func(asked) said { <-held; return said{text: "late"} }), "")
	status, raw := s.request("POST", "/v1/runs", map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": "one"}}, "session_id": "s", "user_key": "pska:ann",
	})
	if status != 200 {
		t.Fatalf("first: %d %s", status, raw)
	}
	for name, more := range map[string]map[string]any{
		"body": {"multitask": "reject"}, "metadata": {"metadata": map[string]any{"multitask": "reject"}},
	} {
		body := map[string]any{
			"messages": []any{map[string]any{"role": "user", "content": "two"}}, "session_id": "s", "user_key": "pska:ann",
		}
		for key, value := range more {
			body[key] = value
		}
		for _, path := range []string{"/v1/runs", "/v1/chat/completions"} {
			status, raw := s.request("POST", path, body)
			if status != 409 || !strings.Contains(string(raw), `"code":"session_busy"`) {
				t.Errorf("%s %s: %d %s", name, path, status, raw)
			}
		}
	}
	status, raw = s.request("POST", "/v1/runs", map[string]any{
		"messages":  []any{map[string]any{"role": "user", "content": "two"}},
		"multitask": "sometimes",
	})
	if status != 422 {
		t.Errorf("unknown word: %d %s", status, raw)
	}
}

func TestACancelWithAPendingApprovalFreesTheSession(t *testing.T) {
	t.Parallel()
	model := newModel(t, func(a asked) said {
		if a.question() == "bump" {
			return bumpThenAnswer(a)
		}
		return answering(a)
	})
	s := start(t, model, approvalConfig("60s"))
	body := inSession("bump", "s", "pska:ann", "")
	body["metadata"].(map[string]any)["run_id"] = "run-1"
	status, raw := s.request("POST", "/v1/runs", body)
	if status != 200 {
		t.Fatalf("run: %d %s", status, raw)
	}
	var approval map[string]any
	s.await(20*time.Second, func() (bool, string) {
		_, raw := s.request("GET", "/v1/approvals?status=pending&run_id=run-1", nil)
		all, _ := s.object(raw)["approvals"].([]any)
		if len(all) == 1 {
			approval = all[0].(map[string]any)
		}
		return len(all) == 1, string(raw)
	})
	message := inSession("hello", "s", "pska:ann", "")
	message["multitask"] = "parallel"
	s.chat(message)
	id := approval["request_id"].(string)
	if _, raw := s.request("GET", "/v1/approvals/"+id, nil); !strings.Contains(string(raw), `"status":"pending"`) {
		t.Errorf("after a message to the session: %s", raw)
	}
	s.request("POST", "/v1/runs/run-1/cancel", nil)
	if _, raw := s.request("GET", "/v1/approvals/"+id, nil); !strings.Contains(string(raw), `"status":"cancelled"`) {
		t.Errorf("after the cancel: %s", raw)
	}
	if answer := s.chat(inSession("next", "s", "pska:ann", "")); answer["content"] != "I heard next." {
		t.Errorf("the next run says %v", answer["content"])
	}
	requests := model.requests()
	if got := fmt.Sprint(requests[len(requests)-1].spoken()); got != "[user: hello assistant: I heard hello. user: next]" {
		t.Errorf("the next run heard %s", got)
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the tool ran: %v", calls)
	}
}

// writeSkill writes one SKILL.md.
func writeSkill(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSkillsReachTheModelAsTheRequestSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSkill(t, dir, "tides", "---\nname: tides\ndescription: When the sea rises.\ntriggers: [tide]\n---\nLook at the table.\n")
	writeSkill(t, dir, "manners", "---\nname: manners\ndescription: How to speak.\nalways: true\n---\nBe kind.\n")
	model := newModel(t, answering)
	s := start(t, model, fmt.Sprintf("skills: {dir: %q}\n", dir))
	for _, c := range []struct {
		question string
		skills   any
		want     string
	}{
		{"hello", nil, "[manners] []"},
		{"When is the tide?", nil, "[manners tides] []"},
		{"When is the tide?", []string{}, "[] []"},
		{"hello", []string{"tides", "unknown"}, "[tides] [unknown]"},
		{"hello", []string{"pska_digest"}, "[pska_digest] []"},
	} {
		body := inSession(c.question, "s", "pska:ann", "")
		if c.skills != nil {
			body["skills"] = c.skills
		}
		start := s.chat(body)["events"].([]any)[0].(map[string]any)["metadata"].(map[string]any)
		if got := fmt.Sprint(start["skills"], start["ignored_skills"]); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.question, c.skills, got, c.want)
		}
		requests := model.requests()
		system := requests[len(requests)-1].system()
		for name, text := range map[string]string{
			"tides": "Look at the table.", "manners": "Be kind.", "pska_digest": "pska_pska_write_candidates",
		} {
			named := strings.Contains(strings.Split(c.want, "] ")[0], name)
			if strings.Contains(system, text) != named {
				t.Errorf("%s %v: the text of %s is there: %v", c.question, c.skills, name, !named)
			}
		}
	}
	_, raw := s.request("GET", "/v1/skills", nil)
	var list struct {
		Skills []struct{ Name, Description, Digest, Source string }
	}
	if err := json.Unmarshal(raw, &list); err != nil || len(list.Skills) != 3 || list.Skills[2].Name != "tides" ||
		list.Skills[2].Description != "When the sea rises." || !strings.HasPrefix(list.Skills[2].Digest, "sha256:") {
		t.Errorf("skills %s", raw)
	}
}

func TestHangupReadsTheSkillsAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSkill(t, dir, "tides", "---\nname: tides\ndescription: Old.\n---\nLook.\n")
	s := start(t, newModel(t, answering), fmt.Sprintf("skills: {dir: %q}\n", dir))
	writeSkill(t, dir, "tides", "---\nname: tides\ndescription: New.\n---\nLook.\n")
	if err := s.command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.await(time.Minute, func() (bool, string) {
		_, raw := s.request("GET", "/v1/skills", nil)
		return strings.Contains(string(raw), "New."), string(raw)
	})
	writeSkill(t, dir, "tides", "broken")
	if err := s.command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.await(time.Minute, func() (bool, string) {
		return strings.Contains(s.output.String(), "tides/SKILL.md:1"), s.output.String()
	})
	if _, raw := s.request("GET", "/v1/skills", nil); !strings.Contains(string(raw), "New.") {
		t.Errorf("after a broken skill: %s", raw)
	}
}

func TestALongConversationIsShortenedForTheModelOnly(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("line of a long file\n", 13_000)
	model := newModel(t, func(a asked) said {
		switch step := a.step(); {
		case a.question() == "write" && step == 0:
			args, _ := json.Marshal(map[string]string{"path": "long.txt", "content": text})
			return call("write_file", string(args))
		case a.question() == "read" && step < 3:
			return call("read_file", `{"path":"long.txt"}`)
		}
		return said{text: "done"}
	})
	s := start(t, model, "")
	s.chat(ask("write", map[string]any{"stream": false}))
	all := s.stream(ask("read", map[string]any{"metadata": map[string]any{"run_id": "run-1"}})).rest()
	told := of(all, "compaction")
	if len(told) != 2 { // before the third and the fourth question to the model
		t.Fatalf("events %v", kinds(all))
	}
	metadata := told[1].json(t)["metadata"].(map[string]any)
	if metadata["method"] != "previews" || metadata["bytes_after"].(float64) > 400_000 || metadata["bytes_before"].(float64) <= 400_000 {
		t.Errorf("metadata %v", metadata)
	}
	for _, result := range of(all, "tool_result") {
		if content := result.json(t)["content"].(string); len(content) < 250_000 {
			t.Errorf("a result of %d bytes", len(content))
		}
	}
	open := map[string]bool{}
	requests := model.requests()
	last := requests[len(requests)-1]
	if len(last.raw) > 500_000 {
		t.Errorf("the model was sent %d bytes", len(last.raw))
	}
	var body struct {
		Messages []struct {
			Role       string `json:"role"`
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(last.raw, &body); err != nil {
		t.Fatal(err)
	}
	results := 0
	for _, m := range body.Messages {
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				t.Errorf("a result of %q without its call", m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			results++
		}
	}
	if results != 3 || len(open) > 0 {
		t.Errorf("%d results, open calls %v", results, open)
	}
}

func TestAQuestionTooLargeForTheModelFailsWithItsCode(t *testing.T) {
	t.Parallel()
	model := newModel(t, answering)
	s := start(t, model, "agent: {context_bytes: 4096}\n")
	answer := s.chat(inSession(strings.Repeat("long ", 2000), "s", "pska:ann", ""))
	events := answer["events"].([]any)
	last := events[len(events)-1].(map[string]any)
	if answer["type"] != "error" || last["metadata"].(map[string]any)["code"] != "context_too_large" {
		t.Errorf("answer %v", answer["error"])
	}
	if n := len(model.requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}
