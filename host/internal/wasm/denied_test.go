package wasm

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/sdk"
)

// denied holds, for each capability id, how a manifest asks for it and how an operator grants it. A capability that is
// missing here fails TestEveryImportIsDeniedWithoutItsGrant, and one that the grants of the SDK have and nobody lists
// fails TestEveryGrantBelongsToACapability.
func denied() map[string]sdk.Capabilities {
	return map[string]sdk.Capabilities{
		capabilityFiles:    {Files: []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadOnly}}},
		capabilityHTTP:     {HTTP: []sdk.HTTPAccess{{Host: "api.example"}}},
		capabilityKV:       {KV: &sdk.KVAccess{Bytes: 10}},
		capabilityProgress: {Progress: &sdk.ProgressAccess{Bytes: 10}},
		capabilitySecrets:  {Secrets: []sdk.SecretAccess{{Name: "token", Hosts: []string{"api.example"}}}},
	}
}

// servedImports lists every import that this host serves.
func servedImports() []imported {
	var all []imported
	add := func(module string, names ...string) {
		for _, name := range names {
			all = append(all, imported{module: module, name: name, kind: kindFunction})
		}
	}
	add(moduleWASI, append(baseFunctions(), fileFunctions()...)...)
	add(moduleLog, "write")
	add(moduleEmit, "chunk")
	add(moduleHTTP, "send")
	add(moduleKV, "get", "set", "delete")
	for name := range extismFunctions() {
		add(moduleExtism, name)
	}
	return all
}

// linking returns why a module with one import is not linked.
func linking(t *testing.T, i imported, kind sdk.Kind, requested, granted sdk.Capabilities) error {
	t.Helper()
	manifest := sdk.Manifest{Kind: kind, Capabilities: requested}
	mounts, err := intersect(requested.Files, granted.Files)
	progress, progressErr := progressOf(requested.Progress, granted.Progress)
	r, reachErr := reachOf(manifest, granted)
	if err := errors.Join(err, progressErr, reachErr); err != nil {
		t.Fatal(err)
	}
	if kind.Pure() {
		mounts, progress = nil, 0 // the manifest of a pure kind may not ask
	}
	return (&shape{imports: []imported{i}}).checkImports(manifest, mounts, progress, r)
}

func TestEveryImportIsDeniedWithoutItsGrant(t *testing.T) {
	met := map[string]bool{capabilitySecrets: true} // no import: TestGrantIsWhatWasRequestedAndGranted
	for _, i := range servedImports() {
		id, known := i.capability()
		if met[id] = true; !known {
			t.Errorf("%s %s is served and belongs to no capability", i.module, i.name)
		}
		if id == "" || id == capabilityLog {
			continue // everybody has these
		}
		grants, listed := denied()[id]
		if !listed {
			t.Fatalf("%s %s: nothing here says how %q is denied", i.module, i.name, id)
		}
		none := sdk.Capabilities{}
		explains(t, linking(t, i, sdk.KindTool, grants, none), id, "the operator may add", "plugins.load", "grants: {"+id)
		explains(t, linking(t, i, sdk.KindTool, none, grants), id, "the author adds capabilities."+id, "operator may grant")
		explains(t, linking(t, i, sdk.KindPolicy, none, grants), id, "never granted to a policy", "nobody can add it")
		if err := linking(t, i, sdk.KindTool, grants, grants); err != nil {
			t.Errorf("%s %s, granted: %v", i.module, i.name, err)
		}
	}
	for _, id := range capabilities() {
		if !met[id] {
			t.Errorf("no import and no test belongs to the capability %q", id)
		}
	}
}

func explains(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: it linked", words[0])
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the refusal does not say %q: %v", word, err)
		}
	}
}

func TestEveryGrantBelongsToACapability(t *testing.T) {
	grants := reflect.TypeFor[sdk.Capabilities]()
	for i := range grants.NumField() {
		id, _, _ := strings.Cut(grants.Field(i).Tag.Get("json"), ",")
		if _, listed := denied()[id]; !listed || !slices.Contains(capabilities(), id) {
			t.Errorf("the grant %q belongs to no capability with a test that denies it", id)
		}
	}
}

func TestPureKindReachesNothingWhateverIsGranted(t *testing.T) {
	granted := everything()
	for _, kind := range []sdk.Kind{sdk.KindPolicy, sdk.KindScope, sdk.KindGuard} {
		r, err := reachOf(sdk.Manifest{Kind: kind, Capabilities: granted}, granted)
		if err != nil || len(r.http) > 0 || len(r.secrets) > 0 || r.kv > 0 {
			t.Errorf("%s: %+v, %v", kind, r, err)
		}
	}
}

// TestBundledPolicyGrantsItselfNothing loads a built-in module that asks for what nobody granted.
func TestBundledPolicyGrantsItselfNothing(t *testing.T) {
	for _, name := range []string{"abi/import-http", "abi/import-kv", "abi/import-emit-in-a-policy", "abi/import-files-in-a-policy"} {
		grants := everything()
		grants.Files, grants.Progress = denied()[capabilityFiles].Files, denied()[capabilityProgress].Progress
		_, err := newHost(t, Config{}).Load(t.Context(), Module{Bytes: wat(t, name), Builtin: true})
		if err == nil {
			t.Errorf("%s was loaded", name)
		}
	}
}

func TestGrantThatNamesNoSecretOfTheHostIsRefused(t *testing.T) {
	module, err := goGuests.reach()
	if err != nil {
		t.Fatal(err)
	}
	_, err = newHost(t, Config{CacheDir: goGuests.cacheDir}).Load(t.Context(), Module{Bytes: module, AllowUnpinned: true, Grants: everything()})
	if err == nil || !strings.Contains(errors.Unwrap(err).Error(), "plugins.secrets") {
		t.Error(err)
	}
}

func TestGrantsThatAreNoneAreRefused(t *testing.T) {
	for _, grants := range []sdk.Capabilities{
		{HTTP: []sdk.HTTPAccess{{Host: "*.example"}}},
		{HTTP: []sdk.HTTPAccess{{Host: "a", Addresses: []string{"10.0.0.1"}}}},
		{Secrets: []sdk.SecretAccess{{Name: "a"}}},
		{Secrets: []sdk.SecretAccess{{Name: "a b", Hosts: []string{"a"}}}},
		{Secrets: []sdk.SecretAccess{{Name: "a", Hosts: []string{"a:0"}}}},
		{KV: &sdk.KVAccess{}},
		{KV: &sdk.KVAccess{Bytes: sdk.MaxKVBytes + 1}},
	} {
		if _, err := reachOf(sdk.Manifest{Kind: sdk.KindTool}, grants); err == nil {
			t.Errorf("%+v was taken", grants)
		}
	}
}

func TestRequestsOfOneCallAreBoundedByItsLimits(t *testing.T) {
	for name, row := range map[string]struct {
		limits sdk.Limits
		args   map[string]any
		want   egress.Code
	}{
		"requests":  {sdk.Limits{HTTPRequests: 3}, map[string]any{"times": 4}, egress.TooMany},
		"bytes":     {sdk.Limits{HTTPBytes: 500}, map[string]any{"method": "POST", "body": strings.Repeat("x", 600)}, egress.TooLarge},
		"redirects": {sdk.Limits{HTTPRedirects: 1}, map[string]any{"url": "http://api.example/?hop"}, egress.RedirectRefused},
	} {
		r := newReaching(t, everything(), row.limits, hop)
		args := map[string]any{"do": "send", "url": "http://api.example/"}
		for key, value := range row.args {
			args[key] = value
		}
		if got := r.does("t", args); got != string(row.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
