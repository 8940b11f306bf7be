package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
)

// guardModule is a guard that always gives the same answer, which has at most 34 bytes.
func guardModule(t *testing.T, name, answer string) []byte {
	t.Helper()
	code, err := os.ReadFile("../testdata/abi/guard-releases.wasm")
	if err != nil {
		t.Fatal(err)
	}
	const releases = `{"verdict":"release","reasons":[]}`
	code = bytes.Replace(code, []byte(releases), fmt.Appendf(nil, "%-34s", answer), 1)
	code, err = build.AppendManifest(code, fmt.Appendf(nil, `{"abi":1,"name":%q,"version":"1","kind":"guard"}`, name))
	if err != nil || len(answer) > len(releases) {
		t.Fatal(answer, err)
	}
	return code
}

const (
	releases = `{"verdict":"release","reasons":[]}`
	repairs  = `{"verdict":"repair","reasons":[]}`
)

// newGuardYard starts a service with these built-in guards, and no other plugin that comes with the program.
func newGuardYard(t *testing.T, plugins string, builtin ...string) *yard {
	t.Helper()
	y := &yard{t: t, folder: t.TempDir()}
	for _, name := range []string{"first", "second"} {
		y.write(name+".wasm", guardModule(t, name, releases))
	}
	y.configure(plugins, "")
	loaded, err := y.load()
	if err != nil {
		t.Fatal(err)
	}
	var modules []Module
	for _, name := range builtin {
		modules = append(modules, Module{Name: name, Bytes: guardModule(t, name, releases)})
	}
	y.server, err = New(context.Background(), Options{
		Config: loaded.Config, Modules: modules, Version: "test", Log: slog.New(slog.DiscardHandler), Reload: y.load, File: y.path("f.yaml"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := y.server.Close(); err != nil {
			t.Error(err)
		}
	})
	y.server.compilePlugins(context.Background())
	return y
}

const bothGuards = `load: [{path: $/second.wasm, allow_unpinned: true}, {path: $/first.wasm, allow_unpinned: true}]`

// verdicts asks every guard that is lent. An error is the word failed.
func (y *yard) verdicts() []string {
	guards, giveBack := y.server.guards()
	defer giveBack()
	said := []string{}
	for _, guard := range guards {
		name := "absent"
		if r, ok := guard.(*resident); ok {
			name = r.Name()
		}
		review, err := guard.Review(y.t.Context(), sdk.ReviewRequest{Draft: json.RawMessage(`{}`), Evidence: json.RawMessage(`[]`)})
		if err != nil {
			review.Verdict = "failed"
		}
		said = append(said, name+" "+string(review.Verdict))
	}
	return said
}

func (y *yard) expectVerdicts(want ...string) {
	y.t.Helper()
	if diff := cmp.Diff(want, y.verdicts()); diff != "" {
		y.t.Error(diff)
	}
}

func TestBuiltInGuardsAreAskedBeforeTheOperators(t *testing.T) {
	y := newGuardYard(t, bothGuards, "semantic-guard", "evidence-guard")
	y.expectVerdicts("evidence-guard release", "semantic-guard release", "second release", "first release")
}

func TestAServiceWithoutABuiltInGuardReleasesNothing(t *testing.T) {
	y := newGuardYard(t, bothGuards, "semantic-guard")
	y.expectVerdicts("absent failed", "semantic-guard release", "second release", "first release")
}

func TestAReloadTakesUpAnotherGuard(t *testing.T) {
	y := newGuardYard(t, `load: []`, builtinGuards()...)
	y.expectVerdicts("evidence-guard release", "semantic-guard release")
	y.configure(bothGuards, "")
	y.write("first.wasm", guardModule(t, "first", repairs))
	y.mustReload()
	y.expectVerdicts("evidence-guard release", "semantic-guard release", "second release", "first repair")
	y.configure(`load: [{path: $/first.wasm, allow_unpinned: true}]`, "")
	y.mustReload()
	y.expectVerdicts("evidence-guard release", "semantic-guard release", "first repair")
}

func TestAGuardThatAnswersNonsenseFails(t *testing.T) {
	for _, answer := range []string{`{"verdict":"maybe"}`, `{}`, `text`, `{"verdict":"Release"}`, ``} {
		y := newGuardYard(t, `load: [{path: $/first.wasm, allow_unpinned: true}]`, builtinGuards()...)
		y.write("first.wasm", guardModule(t, "first", answer))
		y.mustReload()
		y.expectVerdicts("evidence-guard release", "semantic-guard release", "first failed")
	}
}

func TestALentGuardOutlivesAReload(t *testing.T) {
	y := newGuardYard(t, `load: [{path: $/first.wasm, allow_unpinned: true}]`, builtinGuards()...)
	guards, giveBack := y.server.guards()
	y.write("first.wasm", guardModule(t, "first", repairs))
	y.mustReload()
	y.server.retiring.Wait()
	ask := func() (sdk.Review, error) {
		return guards[2].Review(t.Context(), sdk.ReviewRequest{Draft: json.RawMessage(`{}`), Evidence: json.RawMessage(`[]`)})
	}
	if review, err := ask(); err != nil || review.Verdict != sdk.Release {
		t.Errorf("%+v, %v", review, err)
	}
	giveBack()
	if review, err := ask(); err == nil {
		t.Errorf("a guard that was given back says %+v", review)
	}
	y.expectVerdicts("evidence-guard release", "semantic-guard release", "first repair")
}

func TestAGuardInTheShadowIsRefused(t *testing.T) {
	y := newGuardYard(t, `load: []`, builtinGuards()...)
	y.configure(`load: [{path: $/first.wasm, allow_unpinned: true, shadow: true}]`, "")
	if err := y.reload(); err == nil || !strings.Contains(err.Error(), "shadow is for policies") {
		t.Errorf("err = %v", err)
	}
}

func TestGuardsAreLentWhileReloadsSwapThem(t *testing.T) {
	y := newGuardYard(t, bothGuards, builtinGuards()...)
	var lenders sync.WaitGroup
	over := make(chan struct{})
	for range 4 {
		lenders.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				for _, said := range y.verdicts() {
					if strings.HasSuffix(said, " failed") {
						t.Error(said)
					}
				}
			}
		})
	}
	for i := range 10 {
		y.write("first.wasm", guardModule(t, "first", []string{repairs, releases}[i%2]))
		y.mustReload()
	}
	close(over)
	lenders.Wait()
}
