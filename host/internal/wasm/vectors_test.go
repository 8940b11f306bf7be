package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

var (
	expectation = regexp.MustCompile(`(?m)^;; expect: (load|call) (\w+)$`)
	needed      = regexp.MustCompile(`(?m)^;; limit: \w+ (\{.*\})$`)
)

// vector is one module of testdata with the sentence that its source states.
type vector struct {
	name   string
	module []byte
	phase  string         // where it ends: load or call
	code   run.DenialCode // empty: it answers
	limits sdk.Limits     // that it needs
}

func vectors(t *testing.T) []vector {
	t.Helper()
	var all []vector
	for _, folder := range []string{"abi", "hostile"} {
		sources, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", folder, "*.wat"))
		if err != nil || len(sources) == 0 {
			t.Fatalf("no vectors in %s: %v", folder, err)
		}
		for _, source := range sources {
			all = append(all, readVector(t, folder, source))
		}
	}
	return all
}

func readVector(t *testing.T, folder, source string) vector {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(source), ".wat")
	expected := expectation.FindSubmatch(text)
	if expected == nil {
		t.Fatalf("%s states no expectation", source)
	}
	module, err := os.ReadFile(strings.TrimSuffix(source, ".wat") + ".wasm")
	if err != nil {
		t.Fatal(err)
	}
	v := vector{name: folder + "/" + name, module: module, phase: string(expected[1])}
	if code := string(expected[2]); code != "ok" {
		v.code = run.DenialCode(code)
	}
	if limits := needed.FindSubmatch(text); limits != nil {
		if err := json.Unmarshal(limits[1], &v.limits); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
	}
	return v
}

func wat(t testing.TB, name string) []byte {
	t.Helper()
	module, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// runAny asks a plugin whatever its kind answers.
func runAny(ctx context.Context, p *Plugin) error {
	var err error
	switch p.Manifest().Kind {
	case sdk.KindTool:
		_, err = p.Call(ctx, CallContext{}, sdk.Call{Tool: "vector", Args: json.RawMessage(`{}`)})
	case sdk.KindPolicy:
		_, err = p.Evaluate(ctx, sdk.Question{Tool: "vector", Args: json.RawMessage(`{}`)})
	case sdk.KindScope:
		_, err = p.Inject(ctx, sdk.InjectRequest{Tool: "vector", Args: json.RawMessage(`{}`)})
	case sdk.KindGuard:
		_, err = p.Review(ctx, sdk.ReviewRequest{Draft: json.RawMessage(`{}`), Evidence: json.RawMessage(`{}`)})
	}
	return err
}

func codeOf(t *testing.T, err error) run.DenialCode {
	t.Helper()
	if err == nil {
		return ""
	}
	var failure *Failure
	if !errors.As(err, &failure) {
		t.Fatalf("%v is not a *Failure", err)
	}
	return failure.Code
}

func TestEveryVectorEndsAsItSaysAndTheNextCallWorks(t *testing.T) {
	host := newHost(t, Config{})
	good := load(t, host, Module{Bytes: wat(t, "abi/policy-allows")})
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) {
			phase, err := "load", error(nil)
			limits := v.limits
			limits.Wall = v.wall()
			plugin, err := host.Load(t.Context(), Module{Name: "vector", Bytes: v.module, AllowUnpinned: true, Limits: limits})
			if err == nil {
				phase, err = "call", runAny(t.Context(), plugin)
			}
			if code := codeOf(t, err); phase != v.phase || code != v.code {
				t.Errorf("ended in %s with %q, want %s with %q: %v", phase, code, v.phase, v.code, err)
			}
			if err := runAny(t.Context(), good); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// wall is short for a guest that must run into it, and long for all others on a busy machine.
func (v vector) wall() sdk.Duration {
	if v.code == run.PluginTimedOut {
		return sdk.Duration(250 * time.Millisecond)
	}
	return sdk.Duration(20 * time.Second)
}
