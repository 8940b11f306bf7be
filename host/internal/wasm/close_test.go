package wasm

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
)

func TestClosingOneOfTwoPluginsOfOneDigestLeavesItsTwinWorking(t *testing.T) {
	host := newHost(t, Config{})
	module := Module{Bytes: wat(t, "abi/policy-allows")}
	first, second := load(t, host, module), load(t, host, module)
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := runAny(t.Context(), first); codeOf(t, err) != run.PluginUnavailable || !errors.Is(err, ErrClosed) {
		t.Errorf("the closed one: %v", err)
	}
	for range 3 {
		if err := runAny(t.Context(), second); err != nil {
			t.Errorf("its twin: %v", err)
		}
	}
	if err := second.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if len(host.engines.known) > 0 {
		t.Error("its code stayed")
	}
	if used := host.MemoryInUse(); used != 0 {
		t.Errorf("%d bytes of memory stayed", used)
	}
}

func TestClosingAPluginEndsCallsThatDoNotEndInTime(t *testing.T) {
	for _, name := range []string{"hostile/spin-in-tool", "hostile/sleep-in-tool", "hostile/spin-in-call"} {
		plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, name)})
		ended := make(chan error)
		go func() { ended <- runAny(context.Background(), plugin) }()
		for plugin.Gauges().Leased == 0 {
			runtime.Gosched()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := plugin.Close(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := <-ended; codeOf(t, err) != run.PluginTimedOut || !errors.Is(err, ErrClosed) {
			t.Errorf("%s: the call ended with %v", name, err)
		}
	}
}

func TestClosingAPluginTwiceIsNoError(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "abi/policy-allows")})
	for range 2 {
		if err := plugin.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestBlockedHostCallEndsWithItsCaller(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "hostile/holds-its-lease")})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- runAny(ctx, plugin) }()
	for !running(plugin) {
		runtime.Gosched()
	}
	cancel()
	if code := codeOf(t, <-ended); code != run.PluginTimedOut {
		t.Errorf("it ended with %q", code)
	}
}
