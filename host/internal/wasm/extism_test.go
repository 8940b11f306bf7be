package wasm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// shapes is testdata/extism: one Extism module with a tool for everything that a guest can do wrong, and how it ends.
func shapes(t testing.TB) (module []byte, ends map[string]string) {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "testdata", "extism")
	module = joined(t, Parts{Module: file(t, dir, "shapes.wasm"), Manifest: file(t, dir, "shapes.json")})
	ends = map[string]string{}
	head := regexp.MustCompile(`^  ;; (\S+) (\S+): `)
	for lines := bufio.NewScanner(bytes.NewReader(file(t, dir, "shapes.wat"))); lines.Scan(); {
		if found := head.FindStringSubmatch(lines.Text()); found != nil {
			ends[found[1]] = found[2]
		}
	}
	if len(ends) < 20 {
		t.Fatalf("%d shapes were read", len(ends))
	}
	return module, ends
}

func file(t testing.TB, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func joined(t testing.TB, parts Parts) []byte {
	t.Helper()
	module, err := Join(parts)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func TestEveryExtismShapeEndsAsItSays(t *testing.T) {
	module, ends := shapes(t)
	plugin := load(t, newHost(t, Config{}), Module{Bytes: module})
	for name, want := range ends {
		t.Run(name, func(t *testing.T) {
			_, err := plugin.Call(t.Context(), CallContext{}, sdk.Call{Tool: name, Args: json.RawMessage(`{"n":1}`)})
			if want == "ok" && err != nil {
				t.Fatal(err)
			}
			if want != "ok" && codeOf(t, err) != run.DenialCode(want) {
				t.Errorf("%v, want %s", err, want)
			}
			got, err := plugin.Call(t.Context(), CallContext{}, sdk.Call{Tool: "echo", Args: json.RawMessage(`{"n":2}`)})
			if err != nil || got.Content != `{"n":2}` {
				t.Errorf("the next call got %q, %v", got.Content, err)
			}
		})
	}
}
