package blackbox

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// runsTheQuestion makes a model that runs the question as a command, once, and then answers.
func runsTheQuestion(a asked) said {
	if a.step() > 0 {
		return said{text: "Done."}
	}
	question := a.question()
	args, _ := json.Marshal(map[string]string{"command": question[strings.Index(question, "$ ")+2:]})
	return call("exec", string(args))
}

// exec runs one command through a run and returns the result that the client is shown.
func (s *service) exec(command string) (content string, metadata map[string]any) {
	s.t.Helper()
	results := of(s.stream(ask("$ "+command, nil)).rest(), "tool_result")
	if len(results) != 1 {
		s.t.Fatalf("%s: %d results", command, len(results))
	}
	result := results[0].json(s.t)
	content, _ = result["content"].(string)
	metadata, _ = result["metadata"].(map[string]any)
	return content, metadata
}

func TestExecDoesWhatPeopleDoInAShell(t *testing.T) {
	s := start(t, newModel(t, runsTheQuestion), "")
	for _, c := range [][2]string{
		{"printf 'b\\na\\n' > list.txt; mkdir -p src; echo '// NOTE' > src/x.go; ls | sort > out.txt; cat out.txt", "list.txt\nout.txt\nsrc\n"},
		{"cat <<EOF\n$((1+1)) lines\nEOF", "2 lines\n"},
		{"greet() { echo \"hi $1\"; }; greet you", "hi you\n"},
		{"awk '{n++} END {print n}' list.txt", "2\n"},
		{"grep -r NOTE .", "./src/x.go:// NOTE\n"},
		{"sed -i 's/a/z/' list.txt; sort list.txt", "b\nz\n"},
		{"tar czf a.tgz src && mkdir o && tar xzf a.tgz -C o && find o -type f", "o/src/x.go\n"},
		{"ls /", "a.tgz\nlist.txt\no\nout.txt\nsrc\n"},
		{"printf '#!/bin/sh\\necho run $1\\n' > s.sh; chmod +x s.sh; ./s.sh it", "run it\n"},
		{"./s.sh again", "run again\n"},
		{"cat /etc/passwd", "cat: /etc/passwd: No such file or directory\n[exit code 1]\n"},
		{"ls /proc", "ls: cannot access '/proc': No such file or directory\n[exit code 2]\n"},
		{"curl http://127.0.0.1", "curl: not available: this shell runs inside a sandbox without network\n[exit code 127]\n"},
	} {
		if content, _ := s.exec(c[0]); content != c[1] {
			t.Errorf("%s: %q, want %q", c[0], content, c[1])
		}
	}
}

func TestACommandThatDeletesWaitsForAPerson(t *testing.T) {
	s := start(t, newModel(t, runsTheQuestion), "")
	for command, level := range map[string]string{"ls": "safe", "cd /; ls": "safe", "echo x > f": "caution", "./script": "caution"} {
		if _, metadata := s.exec(command); metadata["decision_level"] != level {
			t.Errorf("%s: %v, want %s", command, metadata["decision_level"], level)
		}
	}
	all := s.stream(ask("$ rm -rf src", nil)).until("ask_user")
	if len(of(all, "tool_result")) > 0 {
		t.Error("it ran at once")
	}
}

func TestASpinningCommandEndsAtItsDeadlineWhileOtherRunsFinish(t *testing.T) {
	model := newModel(t, func(a asked) said {
		if strings.Contains(a.question(), "$ ") {
			return runsTheQuestion(a)
		}
		return said{text: "Hello."}
	})
	s := start(t, model, "tools: {timeout: 8s}")
	s.exec("true") // the module is compiled now
	spinning := s.stream(ask("$ echo begun; while :; do :; done", nil))
	spinning.until("tool_call")
	var others sync.WaitGroup
	for range 50 {
		others.Go(func() {
			if all := s.stream(ask("Hi.", nil)).rest(); len(of(all, "done")) != 1 {
				t.Errorf("another run ended in %v", kinds(all))
			}
		})
	}
	others.Wait()
	results := of(spinning.rest(), "tool_result")
	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	if content, _ := results[0].json(t)["content"].(string); !strings.HasPrefix(content, "begun\n[Timed out: ") {
		t.Errorf("%q", content)
	}
}

func TestAFullWorkspaceSaysSoInEveryTool(t *testing.T) {
	model := newModel(t, func(a asked) said {
		if a.step() == 0 && strings.HasSuffix(a.question(), "Write.") {
			return call("write_file", `{"path":"more.txt","content":"`+strings.Repeat("x", 200)+`"}`)
		}
		return runsTheQuestion(a)
	})
	s := startEdited(t, model, func(config string) string {
		return strings.Replace(config, "workspace: {", "workspace: {quota_bytes: 1000, quota_files: 4, ", 1)
	})
	if content, _ := s.exec("head -c 900 /dev/zero > a; head -c 500 /dev/zero > b"); !strings.Contains(content, "No space left") {
		t.Errorf("%q", content)
	}
	results := of(s.stream(ask("Write.", nil)).rest(), "tool_result")
	if content, _ := results[0].json(t)["content"].(string); !strings.Contains(content, "the workspace is full") {
		t.Errorf("%q", content)
	}
	if content, _ := s.exec("touch c d e f g"); !strings.Contains(content, "No space left") {
		t.Errorf("%q", content)
	}
	s.kill()
	s.run() // what is there is counted again
	if content, _ := s.exec("head -c 200 /dev/zero > a2"); !strings.Contains(content, "No space left") {
		t.Errorf("%q", content)
	}
	if content, _ := s.exec("truncate -s 10 a && head -c 500 /dev/zero > b && wc -c b"); content != "500 b\n" {
		t.Errorf("%q", content)
	}
}

func TestALongCommandShowsItsOutputWhileItRuns(t *testing.T) {
	s := start(t, newModel(t, runsTheQuestion), "")
	all := s.stream(ask("$ for i in 1 2 3 4; do echo tick $i; sleep 0.8; done", nil)).rest()
	progress := of(all, "tool_progress")
	if len(progress) == 0 {
		t.Fatalf("no progress among %v", kinds(all))
	}
	if content, _ := progress[0].json(t)["content"].(string); !strings.Contains(content, "tick 1") {
		t.Errorf("%q", content)
	}
}

func TestExecStartsNoProcess(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		peers.Missing(t, "strace")
	}
	s := start(t, newModel(t, runsTheQuestion), "")
	s.exec("true")
	log := filepath.Join(t.TempDir(), "trace")
	trace := exec.CommandContext(t.Context(), "strace", "-f", "-e", "trace=execve,execveat,fork,vfork,clone", "-o", log, "-p", strconv.Itoa(s.command.Process.Pid))
	words, err := trace.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(words)
	if !lines.Scan() || !strings.Contains(lines.Text(), "attached") {
		_ = trace.Wait()
		peers.Missing(t, "the right to trace a process: "+lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, words) }()
	content, _ := s.exec("ls | sort; sh -c 'echo a; (echo b)'; find . -exec echo {} \\; ; echo x | xargs echo; awk 'BEGIN { print 1 }'; curl x; yes | head -1; sleep 0.1 & wait")
	_ = trace.Process.Signal(syscall.SIGINT)
	_ = trace.Wait()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, "exec") || strings.Contains(line, "fork(") || strings.Contains(line, "clone(") && !strings.Contains(line, "CLONE_THREAD") {
			t.Errorf("a process was started: %s", line)
		}
	}
	if !strings.Contains(content, "a\nb\n") {
		t.Errorf("the command itself: %q", content)
	}
}
