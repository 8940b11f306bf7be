package wasm

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestClosingEndsACallThatRuns(t *testing.T) {
	host := newHost(t, Config{})
	plugin := load(t, host, Module{Bytes: wat(t, "hostile/spin-in-tool")})
	ended := make(chan error)
	go func() { ended <- runAny(context.Background(), plugin) }()
	for !running(plugin) {
		runtime.Gosched()
	}
	if err := host.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; codeOf(t, err) != run.PluginTimedOut || !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func running(plugin *Plugin) bool {
	plugin.calls.mu.Lock()
	defer plugin.calls.mu.Unlock()
	return len(plugin.calls.cancels) > 0
}

func TestClosedHostAnswersNoMore(t *testing.T) {
	host := newHost(t, Config{})
	plugin := load(t, host, Module{Bytes: wat(t, "abi/policy-allows")})
	if err := host.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := runAny(t.Context(), plugin)
	if codeOf(t, err) != run.PluginUnavailable || !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestClosedHostLoadsNoMore(t *testing.T) {
	host := newHost(t, Config{})
	if err := host.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := host.Load(t.Context(), Module{Bytes: wat(t, "abi/policy-allows"), AllowUnpinned: true})
	if !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestRecycledMemoryShowsNothingOfTheTenantBefore(t *testing.T) {
	host := newHost(t, Config{})
	plugins := []*Plugin{
		load(t, host, Module{Bytes: wat(t, "abi/memory-is-clean")}),
		load(t, host, Module{Bytes: asKind(t, wat(t, "abi/memory-is-clean"), sdk.KindScope)}),
	}
	for n := range 100 {
		for _, plugin := range plugins {
			if code := codeOf(t, runAny(t.Context(), plugin)); code == run.PluginTrapped {
				t.Fatalf("call %d of a %s saw what was there before", n, plugin.Manifest().Kind)
			}
		}
	}
}
