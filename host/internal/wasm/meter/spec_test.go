package meter_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// suite is a folder of the WebAssembly specification's own tests, as the engine ships them.
type suite struct {
	folder   string
	features api.CoreFeatures
	commands int            // there are at least so many
	refused  map[string]int // why the meter refuses modules on purpose, and how many
}

func suites() []suite {
	return []suite{
		{"v1", api.CoreFeaturesV1, 19_000, map[string]int{}},
		{"v2", api.CoreFeaturesV2, 53_000, map[string]int{}},
		{"extended-const", api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst, 110, map[string]int{}},
	}
}

func TestMeteredModulesPassTheSpecificationTestsLikePlainOnes(t *testing.T) {
	base := specFolder(t)
	plainSpectest := readFile(t, filepath.Join(base, "testdata", "spectest.wasm"))
	for _, s := range suites() {
		t.Run(s.folder, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join(base, s.folder, "testdata", "*.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no specification tests: %v", err)
			}
			count, refused, ticks := map[string]int{}, map[string]int{}, int64(0)
			if raced {
				files, s.commands = files[:(len(files)+3)/4], 1
			}
			for _, file := range files {
				ticks += compareScripts(t, file, s.features, plainSpectest, count, refused)
			}
			total := 0
			for _, kind := range slices.Sorted(maps.Keys(count)) {
				t.Logf("%6d %s", count[kind], kind)
				total += count[kind]
			}
			if total < s.commands {
				t.Errorf("%d commands were run, at least %d are expected", total, s.commands)
			}
			if t.Logf("%6d ticks", ticks); ticks < int64(total)/10 && !raced {
				t.Error("hardly anything was metered")
			}
			if diff := cmp.Diff(s.refused, refused); diff != "" {
				t.Errorf("modules refused on purpose (-want +got):\n%s", diff)
			}
		})
	}
}

// specFolder is where the engine's module keeps the tests.
func specFolder(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest")
}

// compareScripts runs a script twice and gives the number of ticks.
func compareScripts(t *testing.T, file string, f api.CoreFeatures, spectest []byte, count, refused map[string]int) int64 {
	t.Helper()
	var script struct {
		Commands []specCommand `json:"commands"`
	}
	if err := json.Unmarshal(readFile(t, file), &script); err != nil {
		t.Fatal(err)
	}
	c := &clock{slice: 1} // tick whenever one is possible
	plain := newSpecWorld(t, filepath.Dir(file), f, spectest, nil)
	metered := newSpecWorld(t, filepath.Dir(file), f, spectest, c)
	for i, command := range script.Commands {
		if next := i + 1; command.Type == "module" && next < len(script.Commands) && script.Commands[next].Type == "register" {
			command.As = script.Commands[next].As
		}
		want, got := plain.run(command), metered.run(command)
		if command.meant(want) {
			count[command.Type]++
		} else {
			count[command.Type+", of which the engine has another opinion"]++
		}
		if text, is := strings.CutPrefix(got, "refused by the meter: "); is && !strings.HasPrefix(want, "not ") {
			refused[text]++
		} else if is {
			got = want // the engine refuses it too
		}
		if want != got {
			t.Errorf("%s line %d, %s: plain %s, metered %s", filepath.Base(file), command.Line, command.Type, want, got)
		}
	}
	return c.ticks
}

type specCommand struct {
	Type       string `json:"type"`
	Line       int    `json:"line"`
	Name       string `json:"name"`
	Filename   string `json:"filename"`
	As         string `json:"as"`
	ModuleType string `json:"module_type"`
	Action     struct {
		Type   string      `json:"type"`
		Args   []specValue `json:"args"`
		Field  string      `json:"field"`
		Module string      `json:"module"`
	} `json:"action"`
	Expected []specValue `json:"expected"`
}

// Threads, tail calls, exceptions and typed references are not for plugins: the engine has tests of them, and what they
// add is refused.
func TestModulesBeyondTheCoreSpecificationAreRefused(t *testing.T) {
	base := specFolder(t)
	count := map[string]int{}
	for _, folder := range []string{"threads", "tail-call", "exception-handling", "typed-function-references"} {
		files, err := filepath.Glob(filepath.Join(base, folder, "testdata", "*.wasm"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if _, err := meter.Rewrite(readFile(t, file), generous); errors.Is(err, meter.ErrUnsupported) {
				count[folder]++
			}
		}
		t.Logf("%3d of %3d %s", count[folder], len(files), folder)
	}
	want := map[string]int{"threads": 53, "tail-call": 29, "exception-handling": 30, "typed-function-references": 167}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("refused modules (-want +got):\n%s", diff)
	}
}

// meant says whether an outcome is of the kind that the command asks for.
func (c specCommand) meant(outcome string) bool {
	switch {
	case c.ModuleType == "text":
		return true
	case c.Type == "assert_return", c.Type == "action":
		return strings.HasPrefix(outcome, "gives ")
	case c.Type == "assert_trap":
		return strings.HasPrefix(outcome, "traps: ")
	case c.Type == "assert_exhaustion":
		return outcome == "exhausts the stack"
	case c.Type == "module", c.Type == "register":
		return outcome == "is there"
	case strings.HasPrefix(c.Type, "assert_"): // malformed, invalid, unlinkable, uninstantiable
		return strings.HasPrefix(outcome, "not ")
	}
	return false
}

// specWorld is one runtime in which a script is run.
type specWorld struct {
	t       *testing.T
	folder  string
	runtime wazero.Runtime
	metered bool
	named   map[string]api.Module
	last    api.Module
	all     []api.Module
}

func newSpecWorld(t *testing.T, folder string, f api.CoreFeatures, spectest []byte, c *clock) *specWorld {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigCompiler().WithCoreFeatures(f))
	t.Cleanup(func() { _ = r.Close(t.Context()) })
	if c != nil {
		c.install(t, r)
	}
	if _, err := r.Instantiate(t.Context(), spectest); err != nil {
		t.Fatal(err)
	}
	return &specWorld{t: t, folder: folder, runtime: r, metered: c != nil, named: map[string]api.Module{}}
}

// run gives the outcome of a command as text that is the same for the same behaviour.
func (w *specWorld) run(c specCommand) string {
	switch {
	case c.ModuleType == "text":
		return "is text"
	case c.Type == "module":
		return w.module(c)
	case c.Type == "register":
		return "is there" // under the name that the module before was given
	case c.Action.Type == "invoke":
		return w.invoke(c)
	case c.Action.Type == "get":
		return w.get(c)
	case c.Filename != "":
		_, outcome := w.instantiate(c.Filename, "")
		return outcome
	}
	return "unknown command " + c.Type
}

func (w *specWorld) module(c specCommand) string {
	m, outcome := w.instantiate(c.Filename, c.As)
	w.last = m
	if c.Name != "" {
		w.named[c.Name] = m
	}
	return outcome
}
