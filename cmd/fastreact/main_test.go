package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ran is what came of one command line.
type ran struct {
	code      int
	out, errs string
}

// fastreact runs the program in this process, with an environment of its own.
func fastreact(t *testing.T, env map[string]string, args ...string) ran {
	t.Helper()
	return fastreactReading(t, "", env, args...)
}

func fastreactReading(t *testing.T, input string, env map[string]string, args ...string) ran {
	t.Helper()
	var out, errs bytes.Buffer
	root := newRoot(program{
		in: strings.NewReader(input), out: &out, errs: &errs,
		getenv: func(name string) string { return env[name] },
	})
	root.SetArgs(args)
	code := run(t.Context(), root)
	return ran{code, out.String(), errs.String()}
}

func TestExitCodeTellsFailureFromWrongUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"version"}, exitOK},
		{[]string{"--help"}, exitOK},
		{[]string{"runs", "--help"}, exitOK},
		{[]string{"completion", "bash"}, exitOK},
		{[]string{"config", "schema"}, exitOK},
		{[]string{"config", "check", "--config", "absent.yaml"}, exitFailed},
		{[]string{"config", "check", "--addr", "here"}, exitFailed},
		{[]string{"runs", "list", "--url", "http://127.0.0.1:1"}, exitFailed},
		{[]string{"plugin", "inspect", "absent.wasm"}, exitFailed},
		{[]string{"plugin", "build", "absent"}, exitFailed},
		{[]string{"bogus"}, exitUsage},
		{[]string{"runs", "bogus"}, exitUsage},
		{[]string{"--bogus"}, exitUsage},
		{[]string{"serve", "extra"}, exitUsage},
		{[]string{"runs", "show"}, exitUsage},
		{[]string{"runs", "show", "a", "b"}, exitUsage},
		{[]string{"runs", "list", "--limit", "many"}, exitUsage},
		{[]string{"runs", "list", "--url", "nonsense"}, exitUsage},
		{[]string{"policy", "check"}, exitUsage},
		{[]string{"policy", "check", "--tool", "x", "--args", "[]"}, exitUsage},
	} {
		if got := fastreact(t, nil, c.args...); got.code != c.want {
			t.Errorf("%v: exit %d, want %d: %s", c.args, got.code, c.want, got.errs)
		}
	}
}

func TestWrongUsageSaysWhatToDo(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"rnus", "did you mean runs?"},
		{"runs lits", "did you mean list?"},
		{"runs show", "RUN is missing\nSee `fastreact runs show --help`."},
		{"runs list --bogus", "unknown flag: --bogus\nSee `fastreact runs list --help`."},
	} {
		if got := fastreact(t, nil, strings.Fields(c.args)...); !strings.Contains(got.errs, c.want) || got.out != "" {
			t.Errorf("%s: %q, want %q", c.args, got.errs, c.want)
		}
	}
}

func TestEveryCommandAndFlagIsExplained(t *testing.T) {
	var visit func(command *cobra.Command)
	visit = func(command *cobra.Command) {
		if command.Short == "" {
			t.Errorf("%s has no short help", command.CommandPath())
		}
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Usage == "" {
				t.Errorf("%s --%s has no help", command.CommandPath(), flag.Name)
			}
		})
		for _, sub := range command.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(program{getenv: os.Getenv}))
}

func TestConfigCheckShowsEveryProblemWithItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("server: {adr: x}\nworkers: {chat: 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := fastreact(t, nil, "config", "check", "--config", path)
	want := "fastreact: the configuration has 2 problems:\n" +
		path + ":1:10: server.adr: unknown key (did you mean addr?)\n" +
		path + ":2:17: workers.chat: must lie between 1 and 100000 (the default is 64)\n" +
		"`fastreact config schema` describes every key.\n"
	if diff := cmp.Diff(ran{exitFailed, "", want}, got, cmp.AllowUnexported(ran{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfigPrintNamesOriginsAndHidesSecrets(t *testing.T) {
	got := fastreact(t, map[string]string{"FASTREACT_SERVICE_TOKEN": "canary-token"}, "config", "print", "--addr", "0.0.0.0:1")
	if !strings.Contains(got.out, "addr: 0.0.0.0:1 # flag") || strings.Contains(got.out+got.errs, "canary") {
		t.Errorf("%+v", got)
	}
}

func TestOpenListenerNeedsATokenOrTheFlag(t *testing.T) {
	if got := fastreact(t, nil, "config", "check", "--addr", "0.0.0.0:1"); got.code != exitFailed {
		t.Errorf("an open listener was accepted: %+v", got)
	}
	if got := fastreact(t, nil, "config", "check", "--addr", "0.0.0.0:1", "--insecure"); got.code != exitOK {
		t.Errorf("--insecure was refused: %+v", got)
	}
}

func TestRemoteTextCannotDriveTheTerminal(t *testing.T) {
	url := serving(t, `{"approvals":[{"request_id":"a\u001b[2J","tool_name":"ex\u202eec","tool_args":{"c":"\u009b1m\r"},"status":"pending"}]}`)
	got := fastreact(t, nil, "approvals", "list", "--url", url)
	if got.code != exitOK || strings.ContainsAny(got.out, "\x1b\u202e\u009b\r") {
		t.Errorf("%q", got.out)
	}
	for _, want := range []string{`a\u{1b}[2J`, `ex\u{202e}ec`} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q lacks %q", got.out, want)
		}
	}
}

func TestErrorOfTheServiceCannotDriveTheTerminal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":{"code":"not_found","message":"No \u001b[31mrun."}}`)
	}))
	t.Cleanup(server.Close)
	got := fastreact(t, nil, "runs", "show", "r", "--url", server.URL)
	if want := "fastreact: service answered 404 not_found: No \\u{1b}[31mrun.\n"; got.errs != want {
		t.Errorf("%q, want %q", got.errs, want)
	}
}

func TestMissingTokenIsExplained(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer t" {
			io.WriteString(w, `{"runs":[]}`)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	got := fastreact(t, nil, "runs", "list", "--url", server.URL)
	if got.code != exitFailed || !strings.Contains(got.errs, "FASTREACT_SERVICE_TOKEN") {
		t.Errorf("%+v", got)
	}
	got = fastreact(t, map[string]string{"MINE": "t"}, "runs", "list", "--url", server.URL, "--token-env", "MINE")
	if got.code != exitOK {
		t.Errorf("%+v", got)
	}
}

func TestUnreachableServiceIsExplained(t *testing.T) {
	got := fastreact(t, nil, "runs", "list", "--url", "http://127.0.0.1:1")
	if !strings.Contains(got.errs, "Is the service running at http://127.0.0.1:1?") {
		t.Errorf("%q", got.errs)
	}
}

func TestJSONIsTheServicesOwn(t *testing.T) {
	got := fastreact(t, nil, "runs", "show", "r", "--json", "--url", serving(t, `{"run_id":"r","unknown_to_us":1}`))
	if want := "{\n  \"run_id\": \"r\",\n  \"unknown_to_us\": 1\n}\n"; got.out != want {
		t.Errorf("%q, want %q", got.out, want)
	}
}

func TestPolicyCheckAsksTheService(t *testing.T) {
	url := serving(t, `{"tool_name":"exec","level":"danger","requires_confirmation":true,"should_allow":true,"reason":"asks"}`)
	got := fastreact(t, nil, "policy", "check", "--url", url, "--tool", "exec")
	if got.code != exitOK || !strings.Contains(got.out, "would wait for a person") {
		t.Errorf("%+v", got)
	}
}

func TestChatShowsWhatHappens(t *testing.T) {
	url := serving(t, frames(
		`{"type":"session_start","sequence":0,"run_id":"r","session_id":"s","content":"hi"}`,
		`{"type":"tool_call","sequence":1,"tool_name":"exec","tool_args":{"command":"rm x"}}`,
		`{"type":"ask_user","sequence":2,"tool_name":"exec","tool_args":{"command":"rm x"},"approval_request_id":"approval-1","content":"Dangerous"}`,
		`{"type":"tool_result","sequence":3,"tool_name":"exec","content":"gone"}`,
		`{"type":"session_end","sequence":4,"content":"Done."}`,
	))
	got := fastreact(t, nil, "chat", "--url", url, "hi", "there")
	want := "run r in session s\n" +
		"  → exec {\"command\":\"rm x\"}\n" +
		"  ? exec {\"command\":\"rm x\"} needs a person: Dangerous\n" +
		"    answer with: fastreact approvals approve approval-1   (or deny)\n" +
		"  ← exec gone\n" +
		"\nDone.\n"
	if diff := cmp.Diff(ran{exitOK, want, ""}, got, cmp.AllowUnexported(ran{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFailedRunFailsTheCommand(t *testing.T) {
	url := serving(t, frames(`{"type":"error","sequence":0,"run_id":"r","content":"Run cancelled"}`))
	for _, args := range [][]string{{"chat", "hi"}, {"runs", "tail", "r"}, {"chat", "--json", "hi"}} {
		if got := fastreact(t, nil, append(args, "--url", url)...); got.code != exitFailed {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestConversationKeepsWhatWasSaid(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, string(body))
		io.WriteString(w, frames(`{"type":"session_end","sequence":0,"run_id":"r","session_id":"s","content":"answer"}`))
	}))
	t.Cleanup(server.Close)
	got := fastreactReading(t, "one\n\ntwo\n", nil, "chat", "--url", server.URL)
	if got.code != exitOK || len(asked) != 2 {
		t.Fatalf("%+v after %d questions", got, len(asked))
	}
	want := `"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"answer"},{"role":"user","content":"two"}],"session_id":"s"`
	if !strings.Contains(asked[1], want) {
		t.Errorf("%s lacks %s", asked[1], want)
	}
}

// serving answers every request with text.
func serving(t *testing.T, text string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }))
	t.Cleanup(server.Close)
	return server.URL
}

func frames(events ...string) string {
	text := ""
	for i, event := range events {
		text += fmt.Sprintf("id: %d\nevent: e\ndata: %s\n\n", i, event)
	}
	return text + "event: done\ndata: [DONE]\n\n"
}
