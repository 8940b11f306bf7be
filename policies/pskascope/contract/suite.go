// Package contract holds what every build of the pska-scope plugin must do: what becomes of arguments, honest and
// hostile, and of results.
package contract

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

// Suite returns the contract of pska-scope.
func Suite() plugintest.Suite {
	var all []plugintest.Case
	for _, f := range slices.Concat(bounding(), narrowing(), hostile(), schemas()) {
		all = append(all, plugintest.Case{Name: f.name, Run: f.check})
	}
	for _, f := range results() {
		all = append(all, plugintest.Case{Name: f.name, Run: f.check})
	}
	return plugintest.Suite{Name: "pska-scope", Cases: all}
}

// alpha is the scope most facts use.
func alpha() sdk.Scope {
	return sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"kb_a"}, SourceItemIDs: []string{"s1", "s2", "s3"}}
}

// injected is one call's arguments and what must become of them.
type injected struct {
	name       string
	scope      sdk.Scope // zero = alpha
	schema     string
	args       string
	want       string // arguments as a JSON value; empty = not looked at
	narrowed   []string
	unverified []string
	empty      bool
	unapplied  bool
}

func (f injected) check(t *testing.T, plugin *plugintest.Plugin) {
	scope := f.scope
	if scope.Mode == "" {
		scope = alpha()
	}
	got := plugin.Inject(t, sdk.InjectRequest{
		Tool: "pska_search", Args: json.RawMessage(f.args), Scope: scope, Schema: json.RawMessage(f.schema),
	})
	if f.want != "" && canonical(t, string(got.Args)) != canonical(t, f.want) {
		t.Errorf("args = %s, want %s", got.Args, f.want)
	}
	if !slices.Equal(got.Narrowed, f.narrowed) {
		t.Errorf("narrowed = %q, want %q", got.Narrowed, f.narrowed)
	}
	if !slices.Equal(got.Unverified, f.unverified) {
		t.Errorf("unverified = %q, want %q", got.Unverified, f.unverified)
	}
	if got.Empty != f.empty || got.Applied == f.unapplied {
		t.Errorf("empty = %v, applied = %v; want %v, %v", got.Empty, got.Applied, f.empty, !f.unapplied)
	}
}

// canonical writes JSON with sorted keys and numbers as they stand.
func canonical(t *testing.T, text string) string {
	t.Helper()
	var value map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// filtered is a result and what must be left of it.
type filtered struct {
	name    string
	scope   sdk.Scope // zero = alpha
	result  string
	want    string // the whole result, byte for byte; empty = the same as result
	removed int
}

func (f filtered) check(t *testing.T, plugin *plugintest.Plugin) {
	scope := f.scope
	if scope.Mode == "" {
		scope = alpha()
	}
	want := f.want
	if want == "" {
		want = f.result
	}
	got := plugin.Filter(t, sdk.FilterRequest{Result: json.RawMessage(f.result), Scope: scope})
	if string(got.Result) != want {
		t.Errorf("result = %s\n want    %s", got.Result, want)
	}
	if got.Removed != f.removed {
		t.Errorf("removed = %d, want %d", got.Removed, f.removed)
	}
}
