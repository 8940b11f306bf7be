package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/testdata/hostile"
)

func probes(t *testing.T) []hostile.Probe {
	t.Helper()
	all, err := hostile.Probes()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// probesOf returns the modules that cross a limit.
func probesOf(t *testing.T, limit string) []hostile.Probe {
	t.Helper()
	var found []hostile.Probe
	for _, p := range probes(t) {
		if p.Limit == limit {
			found = append(found, p)
		}
	}
	return found
}

func TestEveryLimitOfAPluginHasAHostileModule(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[sdk.Limits]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if len(probesOf(t, name)) == 0 {
			t.Errorf("no module of testdata/hostile says that it crosses %s", name)
		}
	}
}

func TestEveryLimitOfTheHostHasAHostileModule(t *testing.T) {
	for _, name := range []string{"module_bytes", "memory_bytes", "compile_time", "progress_bytes", "kv_bytes"} {
		if len(probesOf(t, name)) == 0 {
			t.Errorf("no module of testdata/hostile says that it crosses %s", name)
		}
	}
}

// endOf loads a probe with its limits and asks it once.
func endOf(ctx context.Context, host *Host, p hostile.Probe) (phase string, err error) {
	plugin, err := host.Load(ctx, Module{Name: p.Name, Bytes: p.Module, AllowUnpinned: true, Limits: p.Limits})
	if err != nil {
		return "load", err
	}
	return "call", errors.Join(runAny(ctx, plugin))
}

func TestEveryHostileModuleEndsAsItSaysAndNearItsDeadline(t *testing.T) {
	host := newHost(t, Config{})
	good := load(t, host, Module{Bytes: wat(t, "abi/policy-allows")})
	for _, p := range probes(t) {
		t.Run(p.Name, func(t *testing.T) {
			plugin, err := host.Load(t.Context(), Module{Name: p.Name, Bytes: p.Module, AllowUnpinned: true, Limits: p.Limits})
			if err != nil {
				if p.Phase != "load" || string(codeOf(t, err)) != p.Code {
					t.Errorf("it does not load: %v", err)
				}
				return
			}
			for round := range 3 { // the deadline holds on later calls too
				begin := time.Now()
				err := runAny(t.Context(), plugin)
				took := time.Since(begin)
				if string(codeOf(t, err)) != p.Code || p.Phase != "call" {
					t.Errorf("call %d ended with %v, want %s with %q", round, err, p.Phase, p.Code)
				}
				if p.Limits.Wall > 0 {
					within(t, took, time.Duration(p.Limits.Wall))
				}
			}
			if err := runAny(t.Context(), good); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// within reports a call that did not end near its deadline. A machine that does a lot of other work gets a second.
func within(t *testing.T, took, wall time.Duration) {
	t.Helper()
	t.Logf("ended %v after its deadline", took-wall)
	if took > wall+time.Second {
		t.Errorf("it ended after %v", took)
	}
}

func TestDeadlineHoldsOnTheHundredthCallToo(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{
		Bytes: wat(t, "hostile/spin-in-call"), Limits: sdk.Limits{Wall: sdk.Duration(20 * time.Millisecond)},
	})
	for n := range 100 {
		if code := codeOf(t, runAny(t.Context(), plugin)); code != run.PluginTimedOut {
			t.Fatalf("call %d: %q", n, code)
		}
	}
}

func TestSpinningGuestDoesNotHoldTheCollectorUp(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "hostile/spin-in-tool")})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- runAny(ctx, plugin) }()
	for !running(plugin) {
		runtime.Gosched()
	}
	worst := time.Duration(0)
	for range 10 {
		begin := time.Now()
		runtime.GC()
		worst = max(worst, time.Since(begin))
	}
	cancel()
	if code := codeOf(t, <-ended); code != run.PluginTimedOut {
		t.Errorf("it ended with %q", code)
	}
	t.Logf("the longest of 10 collections took %v", worst)
	if worst > 2*time.Second {
		t.Errorf("a collection took %v", worst)
	}
}

func TestModuleThatIsLargerThanAllowedIsRefused(t *testing.T) {
	p := probesOf(t, "module_bytes")[0]
	size, err := strconv.Atoi(p.Value)
	if err != nil {
		t.Fatal(err)
	}
	phase, err := endOf(t.Context(), newHost(t, Config{ModuleBytes: size}), p)
	if code := codeOf(t, err); phase != "load" || code != run.PluginUnavailable || !strings.Contains(err.Error(), "the limit is 4096") {
		t.Errorf("%s: %v", phase, err)
	}
}

func TestModuleThatTakesTooLongToCompileIsRefused(t *testing.T) {
	p := probesOf(t, "compile_time")[0]
	limit, err := time.ParseDuration(p.Value)
	if err != nil {
		t.Fatal(err)
	}
	host := newHost(t, Config{CompileTime: limit})
	phase, err := endOf(t.Context(), host, p)
	if code := codeOf(t, err); phase != "load" || code != run.PluginUnavailable || !strings.Contains(err.Error(), "compil") {
		t.Errorf("%s: %v", phase, err)
	}
	if len(host.engines.known) > 0 {
		t.Error("something of it stayed")
	}
}

func TestPluginsTogetherGetNoMoreMemoryThanTheHostHas(t *testing.T) {
	p := probesOf(t, "memory_bytes")[0]
	size, err := strconv.ParseInt(p.Value, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	host := newHost(t, Config{MemoryBytes: size})
	phase, err := endOf(t.Context(), host, p)
	if code := codeOf(t, err); phase != "call" || code != run.PluginOutOfMemory || !strings.Contains(err.Error(), "memory_bytes") {
		t.Errorf("%s: %v", phase, err)
	}
	if used := host.MemoryInUse(); used > size {
		t.Errorf("%d bytes are in use", used)
	}
}

func TestCallThatFindsNoInstanceInTimeIsRefused(t *testing.T) {
	p := probesOf(t, "leases")[0]
	plugin := load(t, newHost(t, Config{}), Module{Bytes: p.Module, Limits: p.Limits})
	held, err := plugin.pool.Lease(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if code := codeOf(t, runAny(t.Context(), plugin)); code != run.PluginBusy {
		t.Errorf("it ended with %q", code)
	}
	plugin.pool.Return(held, false)
	if code := codeOf(t, runAny(t.Context(), plugin)); code != run.PluginTimedOut {
		t.Errorf("the next call ended with %q", code)
	}
}

func TestCallWaitsForMemoryAndIsServedInItsTurn(t *testing.T) {
	host := newHost(t, Config{MemoryBytes: 3 << 20})
	plugin := load(t, host, Module{Bytes: wat(t, "abi/tool-answers")})
	taken := host.config.MemoryBytes - host.MemoryInUse()
	if !host.budget.take(taken) {
		t.Fatal("there is no memory to take")
	}
	ended := make(chan error)
	go func() { ended <- runAny(t.Context(), plugin) }()
	for !host.budget.pressed() {
		runtime.Gosched()
	}
	host.budget.give(taken)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestCallThatWouldWaitBehindTooManyIsRefusedAtOnce(t *testing.T) {
	p := probesOf(t, "waiting")[0]
	most, err := strconv.Atoi(p.Value)
	if err != nil {
		t.Fatal(err)
	}
	plugin := load(t, newHost(t, Config{Waiting: most}), Module{Bytes: p.Module, Limits: sdk.Limits{Leases: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, most+1)
	for n := range most + 1 {
		go func() { ended <- runAny(ctx, plugin) }()
		for plugin.Gauges().Leased+plugin.Gauges().Waiting <= n {
			runtime.Gosched()
		}
	}
	if code := codeOf(t, runAny(t.Context(), plugin)); code != run.PluginBusy {
		t.Errorf("it ended with %q", code)
	}
	cancel()
	for range most + 1 {
		if code := codeOf(t, <-ended); code != run.PluginTimedOut {
			t.Errorf("one that waited ended with %q", code)
		}
	}
}

func TestGuestKeepsNoMoreThanItWasGranted(t *testing.T) {
	p := probesOf(t, "kv_bytes")[0]
	most, err := strconv.Atoi(p.Value)
	if err != nil {
		t.Fatal(err)
	}
	kept := &drawers{}
	plugin := load(t, newHost(t, Config{World: World{Pairs: kept}}), Module{
		Bytes: p.Module, Grants: sdk.Capabilities{KV: &sdk.KVAccess{Bytes: int64(most)}},
	})
	_, err = plugin.Call(t.Context(), CallContext{Tenant: "t"}, sdk.Call{Tool: "vector", Args: json.RawMessage(`{}`)})
	if err != nil {
		t.Errorf("it was refused nothing: %v", err)
	}
}
