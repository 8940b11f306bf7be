package contract

import (
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk/plugintest"
)

// results holds the facts about what an answer says.
func results() []plugintest.Case {
	return []plugintest.Case{
		{Name: "standard output and standard error come in the order of writing", Run: says("echo a; echo b >&2; echo c", "a\nb\nc\n", 0)},
		{Name: "a status other than 0 is told and makes the result an error", Run: says("echo a; exit 3", "a\n[exit code 3]\n", 3)},
		{Name: "a command without output says so", Run: says("true", "[no output, exit code 0]\n", 0)},
		{Name: "a last line without an end stays apart from the note", Run: says("printf x; false", "x\n[exit code 1]\n", 1)},
		{Name: "a script that is no shell is status 2", Run: contains("if", 2, "syntax error")},
		{Name: "what is no text shows as replacement characters", Run: says(`printf '\377\n'`, "\uFFFD\n", 0)},
		{Name: "the workspace is /", Run: says("pwd; echo $HOME", "/\n/\n", 0)},
		{Name: "a call starts where it is told to", Run: startsIn},
		{Name: "a folder that is not there is refused", Run: startsNowhere},
		{Name: "wrong arguments are refused with a sentence", Run: wrongArguments},
		{Name: "a flood ends with a note", Run: flood},
		{Name: "the beginning and the end of a long output are kept", Run: longOutput},
		{Name: "a command that never ends is ended after its time", Run: endless},
		{Name: "sleep ends with the call's time", Run: sleeping},
		{Name: "scripts that run themselves end", Run: contains("echo './s.sh' > s.sh; chmod +x s.sh; ./s.sh", 1, "deep")},
		{Name: "files stay from call to call", Run: staying},
		{Name: "a background command and wait work", Run: says("(sleep 0.05; echo b) & echo a; wait; echo c", "a\nb\nc\n", 0)},
		{Name: "/tmp is there when something is written to it", Run: says("f=$(mktemp); echo x > $f; cat $f; dirname $f", "x\n/tmp\n", 0)},
		{Name: "which tells what is there", Run: says("which ls nope; echo $?", "/usr/bin/ls\n1\n", 0)},
		{Name: "devices that scripts need are there", Run: says("head -c 3 /dev/zero | wc -c; head -c 8 /dev/urandom | wc -c; echo x > /dev/null; cat /dev/null; echo e > /dev/stderr", "3\n8\ne\n", 0)},
	}
}

func says(command, want string, status int) func(*testing.T, *plugintest.Plugin) {
	return func(t *testing.T, plugin *plugintest.Plugin) {
		got := run(t, plugin, command)
		if got.Content != want || got.Status != status || got.IsError != (status != 0) {
			t.Errorf("%q, status %d, is_error %v; want %q, status %d", got.Content, got.Status, got.IsError, want, status)
		}
	}
}

func contains(command string, status int, parts ...string) func(*testing.T, *plugintest.Plugin) {
	return func(t *testing.T, plugin *plugintest.Plugin) {
		got := run(t, plugin, command)
		for _, part := range parts {
			if !strings.Contains(got.Content, part) || got.Status != status {
				t.Errorf("%q, status %d; want %q in it and status %d", got.Content, got.Status, part, status)
			}
		}
	}
}

func startsIn(t *testing.T, plugin *plugintest.Plugin) {
	run(t, plugin, "mkdir -p a/b; echo x > a/b/f")
	for _, cwd := range []string{"a/b", "/a/b", "./a/../a/b/"} {
		if got := runWith(t, plugin, map[string]any{"command": "cat f", "cwd": cwd}); got.Content != "x\n" {
			t.Errorf("%s: %q", cwd, got.Content)
		}
	}
}

func startsNowhere(t *testing.T, plugin *plugintest.Plugin) {
	if got := runWith(t, plugin, map[string]any{"command": "ls", "cwd": "gone"}); !got.IsError || !strings.Contains(got.Content, "does not exist") {
		t.Errorf("%+v", got)
	}
}

func wrongArguments(t *testing.T, plugin *plugintest.Plugin) {
	for _, args := range []string{
		`{}`, `{"command":""}`, `{"command":7}`, `{"command":"ls","Command":"ls"}`, `{"command":"ls","command":"pwd"}`,
		`{"command":"ls","timeout_seconds":-1}`, `{"command":"ls","timeout_seconds":"5"}`, `{"cmd":"ls"}`,
		`{"command":"` + strings.Repeat("x", 257<<10) + `"}`,
	} {
		if got := plugin.Call(t, "exec", args); !got.IsError || got.Content == "" {
			t.Errorf("%.60s: %+v", args, got)
		}
	}
}

func flood(t *testing.T, plugin *plugintest.Plugin) {
	got := run(t, plugin, "yes")
	if !got.Truncated || len(got.Content) > 300<<10 || !strings.Contains(got.Content, "[The command was ended after writing 64 MiB of output.]") {
		t.Errorf("truncated %v, %d bytes ending %q", got.Truncated, len(got.Content), got.Content[max(0, len(got.Content)-200):])
	}
}

func longOutput(t *testing.T, plugin *plugintest.Plugin) {
	got := run(t, plugin, "echo first; seq 200000; echo last")
	if !got.Truncated || got.Status != 0 || !strings.HasPrefix(got.Content, "first\n1\n") || !strings.HasSuffix(got.Content, "200000\nlast\n") ||
		!strings.Contains(got.Content, "[Output truncated: ") {
		t.Errorf("%d bytes, truncated %v, ending %q", len(got.Content), got.Truncated, got.Content[max(0, len(got.Content)-100):])
	}
}

func endless(t *testing.T, plugin *plugintest.Plugin) {
	for _, command := range []string{"echo begun; while :; do :; done", "echo begun; while ((1)); do ((x++)); done", "echo begun; f() { while true; do echo x > /dev/null; done; }; f"} {
		got := runWith(t, plugin, map[string]any{"command": command, "timeout_seconds": 1})
		if !got.TimedOut || got.Status != 124 || !got.IsError || !strings.HasPrefix(got.Content, "begun\n[Timed out: ") {
			t.Errorf("%s: %+v %s", command, got.Result, got.Structured)
		}
	}
}

func sleeping(t *testing.T, plugin *plugintest.Plugin) {
	if got := runWith(t, plugin, map[string]any{"command": "sleep 60; echo late", "timeout_seconds": 1}); !got.TimedOut || strings.Contains(got.Content, "late") {
		t.Errorf("%+v", got)
	}
}

func staying(t *testing.T, plugin *plugintest.Plugin) {
	run(t, plugin, "mkdir d && cd d && echo kept > f && v=1")
	says("cat d/f; pwd; echo [$v]", "kept\n/\n[]\n", 0)(t, plugin)
}
