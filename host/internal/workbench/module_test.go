package workbench

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
)

// Types of functions in the modules below: nothing → i32, i32 → i32, (i32, i32, i32) → i64, (i32, i32) → i64,
// (i32 ×4) → i32.
var functionTypes = []string{"\x60\x00\x01\x7f", "\x60\x01\x7f\x01\x7f", "\x60\x03\x7f\x7f\x7f\x01\x7e", "\x60\x02\x7f\x7f\x01\x7e", "\x60\x04\x7f\x7f\x7f\x7f\x01\x7f"}

func leb(n int) string { return string(binary.AppendUvarint(nil, uint64(n))) }

func named(text string) string { return leb(len(text)) + text }

func list(entries ...string) string { return leb(len(entries)) + strings.Join(entries, "") }

func part(id byte, body string) string { return string(id) + named(body) }

// answering assembles a module that answers every call alike. Imports are written "module name type".
func answering(t testing.TB, manifest, answer string, imports ...string) []byte {
	t.Helper()
	var wanted []string
	for _, entry := range imports {
		words := strings.Fields(entry)
		wanted = append(wanted, named(words[0])+named(words[1])+"\x00"+words[2])
	}
	code := func(body string) string { return named("\x00" + body + "\x0b") }
	n := len(imports)
	packed := string(signed(int64(64)<<32 | int64(len(answer))))
	module := "\x00asm\x01\x00\x00\x00" +
		part(1, list(functionTypes...)) + part(2, list(wanted...)) + part(3, list("\x00", "\x01", "\x02")) +
		part(5, list("\x00\x01")) +
		part(7, list(named("memory")+"\x02\x00", named("fastreact_abi")+"\x00"+leb(n), named("fastreact_alloc")+"\x00"+leb(n+1), named("fastreact_call")+"\x00"+leb(n+2))) +
		part(10, list(code("\x41\x01"), code("\x41\x80\x20"), code("\x42"+packed))) +
		part(11, list("\x00\x41\xc0\x00\x0b"+named(answer)))
	built, err := build.AppendManifest([]byte(module), []byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// signed writes a signed LEB128.
func signed(n int64) (out []byte) {
	for {
		low := byte(n & 0x7f)
		n >>= 7
		if n == 0 && low&0x40 == 0 || n == -1 && low&0x40 != 0 {
			return append(out, low)
		}
		out = append(out, low|0x80)
	}
}

// written puts a module into a folder of its own.
func written(t testing.TB, module []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), moduleFile)
	if err := os.WriteFile(path, module, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	allows = `{"action":"allow"}`
	policy = `{"abi":1,"name":"p","version":"1","kind":"policy"}`
)

func TestAssembledModuleAnswers(t *testing.T) {
	host, err := wasm.New(wasm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close(t.Context()) })
	plugin, err := host.Load(t.Context(), wasm.Module{Bytes: answering(t, policy, allows, "wasi_snapshot_preview1 fd_write \x04"), AllowUnpinned: true})
	if err != nil {
		t.Fatal(err)
	}
	if opinion, err := plugin.Evaluate(t.Context(), sdk.Question{Tool: "exec"}); err != nil || opinion.Action != sdk.Allow {
		t.Error(opinion, err)
	}
}
