package blackbox

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// escape starts a process that outlives everybody unless it is looked for: in a session of its own, with a bare
// environment. It returns the process's number.
func escape() int {
	child := exec.Command("/bin/sh", "-c", "while :; do sleep 1; done")
	child.Env = []string{"PATH=/usr/bin:/bin"}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return child.Process.Pid
}

// progress reports progress of a call: far too often, of another call, and in odd shapes.
func (l *liar) progress(params json.RawMessage) {
	var call struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &call)
	if call.Meta.Token == nil {
		call.Meta.Token = json.RawMessage(`"none"`)
	}
	l.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1","progress":1,"message":"of somebody else"}}`)
	l.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[],"progress":{}}}`)
	for i := range 1000 {
		l.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":1000,"message":"step %d\n"}}`, call.Meta.Token, i, i))
	}
}

// escaped has the lying server start a process that leaves its group and session, and returns the process's number.
func (s *service) escaped() int {
	s.t.Helper()
	pid, err := strconv.Atoi(of(s.stream(ask("escape", nil)).rest(), "tool_result")[0].json(s.t)["content"].(string))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// TestNoDescendantOutlivesTheService ends the service in every way there is, after a server has let a process escape.
func TestNoDescendantOutlivesTheService(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*os.Process){
		"SIGKILL": func(p *os.Process) { _ = p.Kill() },
		"SIGTERM": func(p *os.Process) { _ = p.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			s := startLying(t, newModel(t, queryTheQuestion), "")
			pid := s.escaped()
			end(s.command.Process)
			awaitGone(t, s.command.Process.Pid)
			awaitGone(t, pid)
		})
	}
}

func TestNoDescendantOutlivesItsServer(t *testing.T) {
	t.Parallel()
	s := startLying(t, newModel(t, queryTheQuestion), "")
	pid := s.escaped()
	s.stream(ask("crash", nil)).rest()
	awaitGone(t, pid)
	s.await(20*time.Second, func() (bool, string) {
		answer := of(s.stream(ask("afterwards", nil)).rest(), "tool_result")[0].json(t)["content"].(string)
		return answer == "ok", "the server does not come back: " + answer
	})
}

func TestProgressOfACallIsShownSparinglyAndNeverToTheModel(t *testing.T) {
	t.Parallel()
	model := newModel(t, queryTheQuestion)
	s := startLying(t, model, "")
	all := s.stream(ask("progress", nil)).rest()
	signs := of(all, "tool_progress")
	if len(signs) == 0 || len(signs) > 5 {
		t.Errorf("%d signs of life of 1000 in one call: %v", len(signs), kinds(all))
	}
	for _, sign := range signs {
		event := sign.json(t)
		if event["tool_name"] != "pska_pska_search" || strings.Contains(sign.data, "somebody else") {
			t.Errorf("sign %s", sign.data)
		}
	}
	for _, request := range model.requests() {
		if strings.Contains(string(request.raw), "step 0") {
			t.Error("the model was shown progress")
		}
	}
}
