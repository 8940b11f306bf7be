// Package contract holds what every build of the exec-guard policy must do. Its lists give commands and the level
// each must get, one command a line.
package contract

import (
	"embed"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

//go:embed commands/*.txt
var lists embed.FS

// Suite returns the contract of exec-guard.
func Suite() plugintest.Suite {
	return plugintest.Suite{Name: "exec-guard", Cases: []plugintest.Case{
		{Name: "commands that only read are allowed", Run: list("safe", sdk.Allow)},
		{Name: "commands that change files here are cautioned", Run: list("caution", sdk.Caution)},
		{Name: "commands that may do harm need a person", Run: list("danger", sdk.RequireApproval)},
		{Name: "commands that destroy the machine are denied", Run: list("forbidden", sdk.Deny)},
		{Name: "arguments without one clear command need a person", Run: unclear},
		{Name: "a command hidden behind a second key is found", Run: hidden},
		{Name: "commands over several lines are judged whole", Run: lines},
		{Name: "commands built to exhaust the parser need a person", Run: exhausting},
	}}
}

// list checks every command of one list.
func list(name string, want sdk.Action) func(*testing.T, *plugintest.Plugin) {
	return func(t *testing.T, plugin *plugintest.Plugin) {
		text, err := lists.ReadFile("commands/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for command := range strings.Lines(string(text)) {
			checkCommand(t, plugin, strings.TrimSuffix(command, "\n"), want)
		}
	}
}

func checkCommand(t *testing.T, plugin *plugintest.Plugin, command string, want sdk.Action) {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	checkArgs(t, plugin, string(args), want)
}

func checkArgs(t *testing.T, plugin *plugintest.Plugin, args string, want sdk.Action) {
	t.Helper()
	opinion := plugin.Evaluate(t, sdk.Question{Tool: "exec", RawName: "exec", Args: json.RawMessage(args)})
	shown := args[:min(len(args), 120)]
	if opinion.Action != want {
		t.Errorf("%s: %s (%s), want %s", shown, opinion.Action, opinion.Reason, want)
	}
	if !strings.HasSuffix(opinion.Reason, ".") {
		t.Errorf("%s: the reason %q is no sentence", shown, opinion.Reason)
	}
	if opinion.Action == sdk.Deny && opinion.PatternMatched == "" {
		t.Errorf("%s: denied without a pattern", shown)
	}
}

func unclear(t *testing.T, plugin *plugintest.Plugin) {
	for _, args := range []string{
		`{}`, `[]`, `null`, `"ls"`, `{"command":null}`, `{"command":7}`, `{"command":["ls"]}`, `{"command":{"x":"ls"}}`,
		`{"command":""}`, `{"command":"  "}`, `{"command":"# nothing"}`, `{"cmd":"ls"}`,
		`{"command":"ls","command":"ls"}`, `{"command":"ls","Command":"ls"}`,
		`{"command":"ls\u0000rm"}`, `{"command":"ls \u202e x"}`, `{"command":"ls\u001b[2K"}`,
	} {
		checkArgs(t, plugin, args, sdk.RequireApproval)
	}
}

func hidden(t *testing.T, plugin *plugintest.Plugin) {
	for _, args := range []string{
		`{"command":"ls","Command":"rm -rf /"}`, `{"command":"rm -rf /","command":"ls"}`, `{"COMMAND":"rm -rf /"}`,
		`{"other":{"command":"ls"},"command":"rm -rf /"}`,
	} {
		checkArgs(t, plugin, args, sdk.Deny)
	}
}

func lines(t *testing.T, plugin *plugintest.Plugin) {
	checkCommand(t, plugin, "ls\npwd\n", sdk.Allow)
	checkCommand(t, plugin, "ls\nrm x\n", sdk.RequireApproval)
	checkCommand(t, plugin, "ls # harmless\nrm -rf /", sdk.Deny)
	checkCommand(t, plugin, "cat <<EOF\nrm -rf /\nEOF", sdk.Allow)
	checkCommand(t, plugin, "bash <<'EOF'\nrm -rf /\nEOF", sdk.Deny)
	checkCommand(t, plugin, "rm \\\n -rf \\\n /", sdk.Deny)
	checkCommand(t, plugin, "cat <<EOF\n$(rm x)\nEOF", sdk.RequireApproval)
}

func exhausting(t *testing.T, plugin *plugintest.Plugin) {
	for _, command := range []string{
		strings.Repeat("ls;", 20_000),
		strings.Repeat("(", 9_000),
		strings.Repeat("$(", 9_000),
		strings.Repeat("if ", 9_000),
		strings.Repeat("! ", 9_000),
		strings.Repeat("`", 9_001),
		strings.Repeat("{ ", 9_000),
		strings.Repeat("$((", 5_000),
		strings.Repeat("[[ ! ", 4_000),
		"echo " + strings.Repeat("{a,b}", 1_000) + " && rm x",
		"rm " + strings.Repeat("${a:-", 4_000),
		strings.Repeat("xargs --unheard-of ", 300) + "ls",
		strings.Repeat("ls;", 5_000),
	} {
		checkCommand(t, plugin, command, sdk.RequireApproval)
	}
}
