package wasm

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
)

// asKind gives a module a manifest that says no more than its kind.
func asKind(t *testing.T, module []byte, kind sdk.Kind) []byte {
	t.Helper()
	parts, err := sections(module)
	if err != nil {
		t.Fatal(err)
	}
	bare := append([]byte(nil), module[:8]...)
	for _, part := range parts {
		r := &reader{rest: part.body}
		if part.id == sectionCustom && r.name() == sdk.ManifestSection {
			continue
		}
		bare = append(binary.AppendUvarint(append(bare, part.id), uint64(len(part.body))), part.body...)
	}
	whole, err := build.AppendManifest(bare, fmt.Appendf(nil, `{"abi":1,"name":"vector","version":"1","kind":%q}`, kind))
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func TestEveryErrorOfEveryPureKindHasItsOwnCode(t *testing.T) {
	host := newHost(t, Config{})
	for name, want := range map[string]run.DenialCode{
		"hostile/unreachable":     run.PluginTrapped,
		"hostile/exit-zero":       run.PluginTrapped,
		"hostile/spin-in-call":    run.PluginTimedOut,
		"hostile/memory-hog":      run.PluginOutOfMemory,
		"hostile/gas-spin":        run.PluginOutOfGas,
		"hostile/recursion":       run.PluginStackOverflow,
		"hostile/host-call-flood": run.PluginTooManyHostCalls,
		"abi/answer-is-not-json":  run.PluginBadAnswer,
		"abi/answer-is-an-array":  run.PluginBadAnswer,
		"abi/answer-is-empty":     run.PluginBadAnswer,
		"abi/answer-is-zero":      run.PluginNoAnswer,
	} {
		for _, kind := range []sdk.Kind{sdk.KindPolicy, sdk.KindScope, sdk.KindGuard} {
			limits := sdk.Limits{Wall: sdk.Duration(20 * time.Second), HostCalls: 1000}
			switch want {
			case run.PluginTimedOut:
				limits.Wall = sdk.Duration(30 * time.Millisecond)
			case run.PluginOutOfGas:
				limits.Gas = 1_000_000
			}
			plugin := load(t, host, Module{Bytes: asKind(t, wat(t, name), kind), Limits: limits})
			for range 2 {
				if code := codeOf(t, runAny(t.Context(), plugin)); code != want {
					t.Errorf("%s of a %s: %q, want %q", name, kind, code, want)
				}
			}
		}
	}
}

func TestUnknownVerdictOfEveryKindHasItsOwnCode(t *testing.T) {
	host := newHost(t, Config{})
	for kind, name := range map[sdk.Kind]string{sdk.KindPolicy: "abi/action-is-unknown", sdk.KindGuard: "abi/verdict-is-unknown"} {
		plugin := load(t, host, Module{Bytes: asKind(t, wat(t, name), kind)})
		if code := codeOf(t, runAny(t.Context(), plugin)); code != run.PluginBadVerdict {
			t.Errorf("%s: %q", kind, code)
		}
	}
	plugin := load(t, host, Module{Bytes: asKind(t, wat(t, "abi/action-is-unknown"), sdk.KindScope)})
	if code := codeOf(t, runAny(t.Context(), plugin)); code != run.PluginBadAnswer {
		t.Errorf("a scope plugin that bounds nothing: %q", code)
	}
}

func TestModuleThatIsNotThereIsUnavailable(t *testing.T) {
	_, err := newHost(t, Config{}).Load(t.Context(), Module{Name: "gone", AllowUnpinned: true})
	if code := codeOf(t, err); code != run.PluginUnavailable {
		t.Errorf("%q: %v", code, err)
	}
}

// sameAnswers asks two plugins the same and reports what differs, answer, failure or cost.
func sameAnswers(t *testing.T, one, other *Plugin, inputs []json.RawMessage) {
	t.Helper()
	tell := func(p *Plugin, input []byte) string {
		var spent Spent
		answer, err := p.exchange(t.Context(), sdk.OpEvaluate, CallContext{Spent: &spent}, input)
		return fmt.Sprintf("%s %v %+v", answer, err, spent)
	}
	for round := range 3 {
		for _, input := range inputs {
			if a, b := tell(one, input), tell(other, input); a != b {
				t.Errorf("round %d: %s\n%s: %s\n%s: %s", round, input, one.mode, a, other.mode, b)
			}
		}
	}
}

func TestSnapshotAndFreshInstanceAgreeBitForBit(t *testing.T) {
	module, err := goGuests.policy()
	if err != nil {
		t.Fatal(err)
	}
	host := newHost(t, Config{CacheDir: goGuests.cacheDir})
	var inputs []json.RawMessage
	for _, tool := range []string{"exec", "world", "sleep", "world", "log", "fail", "panic", "exec"} {
		inputs = append(inputs, fmt.Appendf(nil, `{"tool":%q,"args":{"command":"rm <x>"}}`, tool))
	}
	sameAnswers(t, load(t, host, Module{Bytes: module, Mode: ModeSnapshot}), load(t, host, Module{Bytes: module, Mode: ModeFresh}), inputs)
}

func TestGasOfAPureCallIsTheSameEveryTime(t *testing.T) {
	plugin := goPolicy(t)
	seen := map[int64]bool{}
	var heard run.GasUse
	ctx := run.WithGasListener(t.Context(), func(use run.GasUse) { heard = use })
	for range 10 {
		if _, err := askIn(ctx, plugin, "exec"); err != nil {
			t.Fatal(err)
		}
		seen[heard.Gas] = true
	}
	if len(seen) != 1 || heard.Gas <= 0 || heard.Plugin != plugin.Name() || heard.Digest != plugin.Digest() {
		t.Errorf("gas was %v, last of %+v", seen, heard)
	}
}

func askIn(ctx context.Context, plugin *Plugin, tool string) (sdk.Opinion, error) {
	return plugin.Evaluate(ctx, sdk.Question{Tool: tool, Args: json.RawMessage(`{}`)})
}
