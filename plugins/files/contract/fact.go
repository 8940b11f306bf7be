package contract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk/plugintest"
)

// fact is one call and what must come of it.
type fact struct {
	name    string
	before  tree   // files that are there first
	tool    string // tool to call
	args    string // its arguments
	want    string // the whole answer, unless part is given
	part    string // text the answer must contain
	refused bool   // the answer is an error the model can act on
	after   tree   // files whose content is then checked
}

// tree is files by path.
type tree map[string]string

// cases turns facts into the cases of a suite.
func cases(facts []fact) []plugintest.Case {
	var all []plugintest.Case
	for _, f := range facts {
		all = append(all, plugintest.Case{Name: f.name, Run: f.check})
	}
	return all
}

func (f fact) check(t *testing.T, plugin *plugintest.Plugin) {
	f.before.plant(t, plugin.Workspace)
	result := plugin.Call(t, f.tool, f.args)
	if result.IsError != f.refused {
		t.Errorf("is_error = %v, want %v; content %q", result.IsError, f.refused, result.Content)
	}
	if f.part == "" && result.Content != f.want {
		t.Errorf("content = %q, want %q", result.Content, f.want)
	}
	if f.part != "" && !strings.Contains(result.Content, f.part) {
		t.Errorf("content = %q, want it to contain %q", result.Content, f.part)
	}
	f.after.compare(t, plugin.Workspace)
	noScratch(t, plugin.Workspace)
}

func (files tree) plant(t *testing.T, workspace string) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(workspace, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (files tree) compare(t *testing.T, workspace string) {
	t.Helper()
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(workspace, filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("read %s after the call: %v", name, err)
		} else if string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
}

// noScratch checks that no half-written copy stays behind.
func noScratch(t *testing.T, workspace string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(workspace, ".write-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
