package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func newHost(t testing.TB, cfg Config) *Host {
	t.Helper()
	host, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return host
}

func load(t testing.TB, host *Host, module Module) *Plugin {
	t.Helper()
	module.AllowUnpinned = true
	plugin, err := host.Load(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	return plugin
}

func TestGoPolicyAnswers(t *testing.T) {
	plugin := goPolicy(t)
	got, err := plugin.Evaluate(t.Context(), sdk.Question{Tool: "exec", Args: json.RawMessage(`{"command":"rm -r <x>"}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := sdk.Opinion{Action: sdk.Deny, Reason: "it removes", PatternMatched: "rm "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func askAbout(t *testing.T, plugin *Plugin, tool string) (sdk.Opinion, error) {
	t.Helper()
	return plugin.Evaluate(t.Context(), sdk.Question{Tool: tool, Args: json.RawMessage(`{}`)})
}

func TestPureGuestSeesTheSameWorldForTheSameQuestion(t *testing.T) {
	t.Setenv("FASTREACT_CANARY", "visible")
	plugin := goPolicy(t)
	first, err := askAbout(t, plugin, "world")
	if err != nil {
		t.Fatal(err)
	}
	second, err := askAbout(t, plugin, "world")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(first.Reason, "<nil> 946684800000000000 [] []") {
		t.Errorf("the guest sees %s", first.Reason)
	}
}

func TestPureGuestSeesOtherRandomnessForAnotherQuestion(t *testing.T) {
	plugin := goPolicy(t)
	first, err := askAbout(t, plugin, "world")
	if err != nil {
		t.Fatal(err)
	}
	second, err := plugin.Evaluate(t.Context(), sdk.Question{Tool: "world", Args: json.RawMessage(`{"a":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if first.Reason == second.Reason {
		t.Error("two questions have the same randomness")
	}
}

func TestPureGuestSleepsInNoTime(t *testing.T) {
	plugin := goPolicy(t)
	opinion, err := askAbout(t, plugin, "sleep")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("2000-01-01T01:00:00Z", opinion.Reason); diff != "" {
		t.Error(diff)
	}
}

func TestEveryGoFailureHasItsCodeAndTheNextCallWorks(t *testing.T) {
	plugin := goPolicy(t)
	for tool, want := range map[string]run.DenialCode{
		"fail": run.PluginNoAnswer, "panic": run.PluginTrapped, "hog": run.PluginOutOfMemory,
	} {
		_, err := askAbout(t, plugin, tool)
		if code := codeOf(t, err); code != want {
			t.Errorf("%s: code %q, want %q: %v", tool, code, want, err)
		}
		if _, err := askAbout(t, plugin, "exec"); err != nil {
			t.Errorf("the call after %s: %v", tool, err)
		}
	}
}

func TestStatusRemembersTheLastFailure(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Name: "mine", Bytes: wat(t, "abi/answer-is-zero")})
	_ = runAny(t.Context(), plugin)
	state, last := plugin.Status()
	want := []string{"failing", "plugin mine: plugin_no_answer: the plugin reported that it failed"}
	if diff := cmp.Diff(want, []string{state, last}); diff != "" {
		t.Error(diff)
	}
}

func TestStatusIsReadyAfterAnAnswer(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "abi/policy-allows")})
	if err := runAny(t.Context(), plugin); err != nil {
		t.Fatal(err)
	}
	state, last := plugin.Status()
	if diff := cmp.Diff([]string{"ready", ""}, []string{state, last}); diff != "" {
		t.Error(diff)
	}
}

func TestPluginOfAnotherKindCannotAnswer(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "abi/tool-answers")})
	_, err := plugin.Evaluate(t.Context(), sdk.Question{})
	if code := codeOf(t, err); code != run.PluginUnavailable {
		t.Errorf("code %q: %v", code, err)
	}
}

func TestTooLargeInputIsNotSent(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "abi/policy-allows")})
	huge, err := json.Marshal(strings.Repeat("x", maxInputBytes))
	if err != nil {
		t.Fatal(err)
	}
	_, err = plugin.Evaluate(t.Context(), sdk.Question{Args: huge})
	if code := codeOf(t, err); code != run.PluginUnavailable {
		t.Errorf("code %q: %v", code, err)
	}
}

func TestCancelledCallEndsWithItsCause(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "hostile/spin-in-tool")})
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the caller left")
	cancel(gone)
	err := runAny(ctx, plugin)
	if code := codeOf(t, err); code != run.PluginTimedOut || !errors.Is(err, gone) {
		t.Errorf("code %q: %v", code, err)
	}
}

func TestGlobsMatchRegisteredAndRawNames(t *testing.T) {
	plugin := goPolicy(t)
	got := map[string]bool{}
	for _, names := range [][2]string{{"exec", "exec"}, {"pska_search", ""}, {"kb_search", "pska_search"}, {"read_file", "read_file"}} {
		got[names[0]] = plugin.Wants(names[0], names[1])
	}
	want := map[string]bool{"exec": true, "pska_search": true, "kb_search": true, "read_file": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPolicyWithoutGlobsWantsEverything(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "abi/policy-allows")})
	if !plugin.Wants("anything", "") {
		t.Error("it does not")
	}
}

func TestFilterThatRemovesNothingGivesTheBytesBack(t *testing.T) {
	got, err := decodeFiltering([]byte(`{"result":{"a":1},"removed":0}`), json.RawMessage(`{ "a" : 1 }`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sdk.Filtering{Result: json.RawMessage(`{ "a" : 1 }`)}, got); diff != "" {
		t.Error(diff)
	}
}

func TestManyCallersShareOnePlugin(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "abi/instance-is-fresh")})
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range 20 {
				if err := runAny(t.Context(), plugin); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
}

func TestHostPanicIsAFailureAndTheNextCallWorks(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "abi/policy-allows")})
	i, err := plugin.bear(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer i.close()
	v := plugin.visit(t.Context(), CallContext{})
	_, err = i.guard(t.Context(), v, func() ([]byte, error) { panic("a bug") })
	if code := codeOf(t, err); code != run.PluginTrapped || !v.broken {
		t.Errorf("code %q: %v", code, err)
	}
	if err := runAny(t.Context(), plugin); err != nil {
		t.Error(err)
	}
}
