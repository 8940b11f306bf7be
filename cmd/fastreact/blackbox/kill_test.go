package blackbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// watcher reads one chat stream until it ends, however it ends, and keeps what it saw.
type watcher struct {
	run      string
	detached bool
	seen     []string
}

// watch starts a chat run and reads its stream in the background.
func (s *service) watch(run, question string, detached bool, all *sync.WaitGroup) *watcher {
	w := &watcher{run: run, detached: detached}
	more := map[string]any{"metadata": map[string]any{"run_id": run}}
	if detached {
		more["on_disconnect"] = "continue"
	}
	body := string(mustJSON(s.t, ask(question, more)))
	url := s.url
	all.Go(func() { w.seen = readAll(url, body) })
	return w
}

// verifyRun checks a run after a restart: it is over or waits, its events have no gap, every call has one result when
// it is over, and what a client saw is how its events begin.
func (s *service) verifyRun(id string, seen []string) {
	s.t.Helper()
	status, raw := s.request("GET", "/v1/runs/"+id, nil)
	if status == 404 && len(seen) == 0 {
		return
	}
	if status != 200 {
		s.t.Errorf("run %s: %d although %d frames were seen", id, status, len(seen))
		return
	}
	snapshot := s.object(raw)
	if snapshot["status"] == "running" && snapshot["phase"] != "awaiting_approval" {
		s.t.Errorf("run %s is still running: %s", id, raw)
	}
	_, raw = s.request("GET", "/v1/runs/"+id+"/events", nil)
	events := s.object(raw)["events"].([]any)
	open := map[any]int{}
	for i, one := range events {
		event := one.(map[string]any)
		if event["sequence"] != float64(i) {
			s.t.Errorf("run %s: event %d has sequence %v", id, i, event["sequence"])
		}
		switch event["type"] {
		case "tool_call":
			open[event["tool_call_id"]]++
		case "tool_result":
			open[event["tool_call_id"]]--
		}
	}
	for call, n := range open {
		if n != 0 && snapshot["phase"] != "awaiting_approval" {
			s.t.Errorf("run %s (%v): call %v is %d results short", id, snapshot["status"], call, n)
		}
	}
	if snapshot["phase"] == "awaiting_approval" {
		return
	}
	stored := raws(newFrames(s.t, s.open("GET", "/v1/runs/"+id+"/stream", nil).Body).rest())
	for i, frame := range seen {
		if i >= len(stored) || stored[i] != frame {
			s.t.Errorf("run %s: a client saw frame %d, which the log does not have:\n%s", id, i, frame)
		}
	}
}

// TestKillNineAtAnyPointLosesNothingThatWasSeen kills the service again and again under twenty runs.
func TestKillNineAtAnyPointLosesNothingThatWasSeen(t *testing.T) {
	s := start(t, newModel(t, func(a asked) said {
		if a.step() < 3 {
			return said{calls: []wish{{"a" + strconv.Itoa(a.step()), "pska_pska_search", `{"query":"q"}`}, {"b" + strconv.Itoa(a.step()), "pska_bump", `{}`}}}
		}
		return said{text: "done"}
	}), "workers: {chat: 40, crash_limit: 100}\n") // five kills in a row are this test's, and no run's fault
	random := rand.New(rand.NewPCG(3, 5))
	seen, promised := map[string][]string{}, map[string]bool{}
	for round := range 5 {
		var all sync.WaitGroup
		var watchers []*watcher
		for i := range 10 {
			watchers = append(watchers, s.watch(fmt.Sprintf("chat-%d-%d", round, i), "Question", i%2 == 0, &all))
		}
		for i := range 10 {
			id := fmt.Sprintf("back-%d-%d", round, i)
			status, _ := s.request("POST", "/v1/runs", ask("Question", map[string]any{"metadata": map[string]any{"run_id": id}}))
			seen[id], promised[id] = nil, status < 300
		}
		<-time.After(time.Duration(random.IntN(150)) * time.Millisecond)
		s.kill()
		all.Wait()
		for _, w := range watchers {
			seen[w.run], promised[w.run] = w.seen, w.detached && len(w.seen) > 0
		}
		s.run()
	}
	kept := 0
	for id := range seen {
		s.awaitOver(id)
		s.verifyRun(id, seen[id])
		if promised[id] {
			kept++
			s.verifyCompleted(id)
		}
	}
	if kept < 50 {
		t.Errorf("only %d runs were accepted", kept)
	}
}

// verifyCompleted fails when a run ended otherwise than with its answer.
func (s *service) verifyCompleted(id string) {
	s.t.Helper()
	_, raw := s.request("GET", "/v1/runs/"+id, nil)
	if s.object(raw)["status"] != "completed" {
		s.t.Errorf("run %s was accepted and has no answer: %s", id, raw)
	}
}

// treatAsDone says of every call whose outcome is unknown that it took effect.
func (s *service) treatAsDone() {
	s.t.Helper()
	_, raw := s.request("GET", "/v1/approvals?status=pending", nil)
	for _, one := range s.object(raw)["approvals"].([]any) {
		approval := one.(map[string]any)
		if approval["kind"] != "outcome_unknown" {
			continue
		}
		path := "/v1/approvals/" + approval["request_id"].(string) + "/approve"
		if status, raw := s.request("POST", path, map[string]any{"choice": "treat_as_done"}); status != 200 {
			s.t.Errorf("treat as done: %d %s", status, raw)
		}
	}
}

// awaitOver waits until a run that exists is terminal. A person says of every lost call that it took effect.
func (s *service) awaitOver(id string) {
	s.t.Helper()
	s.await(30*time.Second, func() (bool, string) {
		s.treatAsDone()
		status, raw := s.request("GET", "/v1/runs/"+id, nil)
		over := status == 404 || s.object(raw)["completed_at"] != nil || s.object(raw)["cancelled_at"] != nil
		return over, fmt.Sprintf("run %s is never over: %s", id, raw)
	})
}

// children lists the processes whose parent is pid, as the kernel tells: no program such as pgrep need be there.
func children(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		_, rest, _ := strings.Cut(string(stat), ") ") // then: state, parent, …
		if fields := strings.Fields(rest); len(fields) < 2 || fields[1] != strconv.Itoa(pid) {
			continue
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			all = append(all, child)
		}
	}
	return all
}

// awaitGone fails when a process is still there after ten seconds, which are the grace and the compiling of one module.
// A zombie is gone.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(10 * time.Second)
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Errorf("process %d is still there: %s", pid, stat)
			return
		}
	}
}

// TestNoChildOutlivesTheService ends the service in every way there is, with a run that hangs in the server.
func TestNoChildOutlivesTheService(t *testing.T) {
	for name, end := range map[string]func(*os.Process){
		"SIGKILL": func(p *os.Process) { _ = p.Kill() },
		"SIGTERM": func(p *os.Process) { _ = p.Signal(syscall.SIGTERM) },
		"SIGTERM twice": func(p *os.Process) {
			_ = p.Signal(syscall.SIGTERM)
			<-time.After(200 * time.Millisecond)
			_ = p.Signal(syscall.SIGTERM)
		},
		"SIGINT": func(p *os.Process) { _ = p.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			s := startLying(t, newModel(t, queryTheQuestion), "")
			s.request("POST", "/v1/runs", ask("hang", map[string]any{"metadata": map[string]any{"run_id": "hanging"}}))
			s.awaitCalls(1)
			all := children(t, s.command.Process.Pid)
			if len(all) == 0 {
				t.Fatal("the service has no child")
			}
			end(s.command.Process)
			for _, child := range append(all, s.command.Process.Pid) {
				awaitGone(t, child)
			}
		})
	}
}

// awaitCalls waits until the server has received n calls.
func (s *service) awaitCalls(n int) {
	s.t.Helper()
	s.await(20*time.Second, func() (bool, string) {
		arrived := len(received(s.t, s.oracleLog()))
		return arrived >= n, fmt.Sprintf("the server received %d calls, want %d", arrived, n)
	})
}

// TestAStopLeavesNoRunBehind stops the service with two calls under way and two runs that wait for a person. The call
// that comes back within the grace has a result; after the restart each other run waits for a person, and none is stuck.
func TestAStopLeavesNoRunBehind(t *testing.T) {
	s := startLying(t, newModel(t, func(a asked) said {
		if a.question() == "bump" {
			return bumpThenAnswer(a)
		}
		return queryTheQuestion(a)
	}), approvalConfig("60s"))
	submit := func(id, question string) {
		s.request("POST", "/v1/runs", ask(question, map[string]any{"metadata": map[string]any{"run_id": id}}))
	}
	var all sync.WaitGroup
	submit("parked", "bump")
	newFrames(t, s.open("GET", "/v1/runs/parked/stream", nil).Body).until("ask_user")
	submit("napping", "nap")
	submit("hanging", "hang")
	s.awaitCalls(2)
	chat := s.watch("chat-bump", "bump", false, &all)
	s.awaitStatus("chat-bump", "running")
	_ = s.command.Process.Signal(syscall.SIGTERM)
	awaitGone(t, s.command.Process.Pid)
	all.Wait()
	s.run()
	for id, kind := range map[string]string{"parked": "permission", "hanging": "outcome_unknown", "chat-bump": "permission"} {
		s.await(20*time.Second, func() (bool, string) {
			_, raw := s.request("GET", "/v1/approvals?status=pending&run_id="+id, nil)
			pending := s.object(raw)["approvals"].([]any)
			return len(pending) == 1 && pending[0].(map[string]any)["kind"] == kind, fmt.Sprintf("run %s: %s", id, raw)
		})
		s.verifyRun(id, nil)
	}
	s.verifyRun("chat-bump", chat.seen)
	s.awaitOver("napping")
	s.verifyRun("napping", nil)
	s.verifyCompleted("napping")
	if n := len(received(t, s.oracleLog())); n != 2 {
		t.Errorf("the server received %d calls", n)
	}
}

// TestAnApprovalSurvivesTwoKillsAndRunsOnce kills the service before and after the answer.
func TestAnApprovalSurvivesTwoKillsAndRunsOnce(t *testing.T) {
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	s.request("POST", "/v1/runs", ask("bump", map[string]any{"metadata": map[string]any{"run_id": "twice"}}))
	before := newFrames(t, s.open("GET", "/v1/runs/twice/stream", nil).Body).until("ask_user")
	id := before[len(before)-1].json(t)["approval_request_id"].(string)
	for range 2 {
		s.kill()
		s.run()
	}
	if status, raw := s.request("POST", "/v1/approvals/"+id+"/approve", nil); status != 200 {
		t.Fatalf("approve: %d %s", status, raw)
	}
	s.kill()
	s.run()
	s.awaitOver("twice")
	s.verifyRun("twice", nil)
	if n := len(received(t, s.oracleLog())); n > 1 {
		t.Errorf("the tool ran %d times", n)
	}
}

// TestApproveUnderANewPolicyIsRefused restarts with a policy that denies what waits.
func TestApproveUnderANewPolicyIsRefused(t *testing.T) {
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	s.request("POST", "/v1/runs", ask("bump", map[string]any{"metadata": map[string]any{"run_id": "changed"}}))
	before := newFrames(t, s.open("GET", "/v1/runs/changed/stream", nil).Body).until("ask_user")
	id := before[len(before)-1].json(t)["approval_request_id"].(string)
	s.kill()
	text, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.config, []byte(strings.Replace(string(text), "bump: require_approval", "bump: deny", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run()
	status, raw := s.request("POST", "/v1/approvals/"+id+"/approve", nil)
	if status != 409 || !strings.Contains(string(raw), "policy_denied") {
		t.Errorf("approve: %d %s", status, raw)
	}
	s.awaitOver("changed")
	s.verifyRun("changed", nil)
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the server received %v", calls)
	}
}

// TestASecondServiceOnOneStoreIsRefused starts the program twice.
func TestASecondServiceOnOneStoreIsRefused(t *testing.T) {
	s := start(t, newModel(t, bumpThenAnswer), "")
	second := exec.Command(binary, "serve", "--config", s.config)
	second.Dir = s.folder
	out, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(out), filepath.Base(s.folder)) && !strings.Contains(string(out), "in use") {
		t.Errorf("second service: %v %s", err, out)
	}
	if status, _ := s.request("GET", "/health", nil); status != 200 {
		t.Errorf("the first service does not live: %d", status)
	}
}
