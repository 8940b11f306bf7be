package meter_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// guest is an instance of a plugin. Its imports besides WASI do nothing.
type guest struct {
	api.Module
	*clock
}

func newGuest(t testing.TB, module []byte, c *clock) (guest, error) {
	t.Helper()
	r := newRuntime(t)
	c.install(t, r)
	wasi_snapshot_preview1.MustInstantiate(t.Context(), r)
	compiled, err := r.CompileModule(t.Context(), module)
	if err != nil {
		return guest{}, err
	}
	stubs := map[string]wazero.HostModuleBuilder{}
	for _, f := range compiled.ImportedFunctions() {
		from, name, _ := f.Import()
		if from == wasi_snapshot_preview1.ModuleName || from == meter.ImportModule {
			continue
		}
		if stubs[from] == nil {
			stubs[from] = r.NewHostModuleBuilder(from)
		}
		nothing := api.GoFunc(func(_ context.Context, stack []uint64) { clear(stack) })
		stubs[from].NewFunctionBuilder().WithGoFunction(nothing, f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	for _, stub := range stubs {
		if _, err := stub.Instantiate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	m, err := r.InstantiateModule(t.Context(), compiled, wazero.NewModuleConfig().WithStartFunctions("_initialize").WithName(""))
	return guest{m, c}, err
}

// ask calls the guest the way the plugin host does.
func (g guest) ask(ctx context.Context, op uint64, input []byte) (answer []byte, err error) {
	at, err := g.ExportedFunction("fastreact_alloc").Call(ctx, uint64(len(input)))
	if err != nil {
		return nil, err
	}
	if !g.Memory().Write(uint32(at[0]), input) {
		return nil, errors.New("room for the input is out of bounds")
	}
	packed, err := g.ExportedFunction("fastreact_call").Call(ctx, op, at[0], uint64(len(input)))
	if err != nil {
		return nil, err
	}
	answer, ok := g.Memory().Read(uint32(packed[0]>>32), uint32(packed[0]))
	if !ok {
		return nil, errors.New("the answer is out of bounds")
	}
	return answer, nil
}

// story is everything that can be told of a guest from outside: what it answers and how its memory looks afterwards.
func story(t *testing.T, module []byte, c *clock, inputs []string) (told []string) {
	t.Helper()
	g, err := newGuest(t, module, c)
	if err != nil {
		return []string{"does not start: " + outline(err)}
	}
	alloc, call := g.ExportedFunction("fastreact_alloc"), g.ExportedFunction("fastreact_call")
	if alloc == nil || call == nil || g.Memory() == nil || len(alloc.Definition().ResultTypes()) != 1 ||
		len(call.Definition().ParamTypes()) != 3 || len(call.Definition().ResultTypes()) != 1 {
		return []string{"has not what a plugin has"}
	}
	for op := range uint64(5) {
		for _, input := range inputs {
			answer, err := g.ask(t.Context(), op+1, []byte(input))
			if err != nil {
				told = append(told, "fails: "+outline(err))
				continue
			}
			all, _ := g.Memory().Read(0, g.Memory().Size())
			told = append(told, fmt.Sprintf("answers %.200q, memory %x", answer, sha256.Sum256(all)))
		}
	}
	return told
}

// outline is an error without its trace.
func outline(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func inputs() []string {
	return []string{
		`{"tool":"exec","raw_name":"exec","args":{"command":"ls -l /w | grep x && rm -rf /"},"identity":{"user_key":"a","tenant_key":"b","user_id":"c"},"now":"2026-01-02T03:04:05Z","static":{"action":"allow"}}`,
		`{"tool":"pska_search","args":{"query":"q","source_item_ids":["s1","x"]},"scope":{"mode":"hard","knowledge_base_ids":["kb"],"source_item_ids":["s1"]}}`,
		`{"result":` + largeResult(100) + `,"scope":{"mode":"hard","knowledge_base_ids":["kb"],"source_item_ids":["s1","s2"]}}`,
		`{"draft":{},"evidence":{},"question":"?"}`, `{`, ``,
	}
}

// largeResult is a tool's result of some 64 KiB for 400 items.
func largeResult(items int) string {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"source_item_id":"s%d","knowledge_base_id":"kb","title":"Item \"%d\" of many","score":0.%d,"text":"%s"}`,
			i%5, i, i, strings.Repeat("words and more ", 5))
	}
	b.WriteString(`]}`)
	return b.String()
}

func TestGuestsAnswerTheSameWithAndWithoutTheMeter(t *testing.T) {
	vectors, err := filepath.Glob(root(t, "testdata", "abi", "*.wasm"))
	if err != nil || len(vectors) < 50 {
		t.Fatalf("%d vectors: %v", len(vectors), err)
	}
	if vectors = append(vectors, builtIn(t, "pska-scope")); !raced {
		vectors = append(vectors, builtIn(t, "exec-guard"))
	}
	for _, file := range vectors {
		t.Run(filepath.Base(file), func(t *testing.T) {
			module := readFile(t, file)
			metered := rewrite(t, module, generous)
			want := story(t, module, &clock{}, inputs())
			if answers := strings.Count(strings.Join(want, "\n"), "answers "); strings.Contains(file, "dist") && answers < 5 {
				t.Errorf("only %d answers: %v", answers, want)
			}
			if diff := cmp.Diff(want, story(t, metered, &clock{}, inputs())); diff != "" {
				t.Errorf("what the guest does (-plain +metered):\n%s", diff)
			}
		})
	}
}

// builtIn is the path of a module that comes with the binary, made by make plugins.
func builtIn(t testing.TB, name string) string {
	t.Helper()
	path := root(t, "plugins", "builtin", "dist", name+".wasm")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("run make plugins first: %v", err)
	}
	return path
}

func TestGasOfTheSameCallsIsTheSame(t *testing.T) {
	metered := rewrite(t, readFile(t, builtIn(t, "pska-scope")), generous)
	var want []int64
	for run, slice := range []int64{100_000, 100_000, 1 << 40} {
		g, err := newGuest(t, metered, &clock{slice: slice})
		if err != nil {
			t.Fatal(err)
		}
		got := []int64{g.used(g)}
		for _, input := range inputs() {
			if _, err := g.ask(t.Context(), 4, []byte(input)); err != nil {
				t.Fatal(err)
			}
			got = append(got, g.used(g))
		}
		if run == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("gas after each call (-first +this):\n%s", diff)
		}
	}
	t.Log("gas after each call:", want)
}

// BenchmarkJSONCall has a Go guest read and write 64 KiB of JSON. The ratio may be 1.5 at most.
func BenchmarkJSONCall(b *testing.B) {
	module := readFile(b, builtIn(b, "pska-scope"))
	input := []byte(`{"result":` + largeResult(400) + `,"scope":{"mode":"hard","knowledge_base_ids":["kb"],"source_item_ids":["s1","s2"]}}`)
	for name, code := range map[string][]byte{"plain": module, "metered": rewrite(b, module, generous)} {
		g, err := newGuest(b, code, &clock{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			for b.Loop() {
				if _, err := g.ask(b.Context(), 4, input); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRewrite meters a built-in module.
func BenchmarkRewrite(b *testing.B) {
	module := readFile(b, builtIn(b, "exec-guard"))
	b.SetBytes(int64(len(module)))
	for b.Loop() {
		rewrite(b, module, generous)
	}
}

// BenchmarkDeadline gives by how much each hostile function overstays its deadline.
func BenchmarkDeadline(b *testing.B) {
	for name := range hostile(b, deadline()).ExportedFunctionDefinitions() {
		b.Run(name, func(b *testing.B) {
			var late time.Duration
			for b.Loop() {
				m := hostile(b, deadline())
				began := time.Now()
				_, err := m.ExportedFunction(name).Call(b.Context())
				if err == nil {
					b.Fatal("it came back")
				}
				late = max(late, time.Since(began)-patience)
			}
			b.ReportMetric(float64(late.Microseconds())/1000, "ms-late")
		})
	}
}
