package contract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk/plugintest"
)

// fact is one call over one workspace and what must come of it.
type fact struct {
	name string
	core string // text of core-snapshot.json; empty: there is none
	jobs string // text of jobs-snapshot.json; empty: there is none
	tool string // tool to call
	args string // its arguments
	want string // the whole answer, unless part or code is given
	part string // text the answer must contain
	code string // the answer is this refusal
}

// cases turns facts into the cases of a suite.
func cases(facts []fact) []plugintest.Case {
	var all []plugintest.Case
	for _, f := range facts {
		all = append(all, plugintest.Case{Name: f.name, Run: f.check})
	}
	return all
}

func (f fact) check(t *testing.T, plugin *plugintest.Plugin) {
	plant(t, plugin.Workspace, "core-snapshot.json", f.core)
	plant(t, plugin.Workspace, "jobs-snapshot.json", f.jobs)
	f.judge(t, plugin)
}

// judge calls the tool over what the workspace holds.
func (f fact) judge(t *testing.T, plugin *plugintest.Plugin) {
	t.Helper()
	result := plugin.Call(t, f.tool, f.args)
	if f.code != "" {
		f.want = `{"error":"` + f.code + `"}`
	}
	if result.IsError != (f.code != "") {
		t.Errorf("is_error = %v; content %.300q", result.IsError, result.Content)
	}
	if f.part == "" && result.Content != f.want {
		t.Errorf("content = %.2000q, want %.2000q", result.Content, f.want)
	}
	if !strings.Contains(result.Content, f.part) {
		t.Errorf("content = %.2000q, want it to contain %q", result.Content, f.part)
	}
}

func plant(t *testing.T, workspace, name, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(workspace, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
