package wasm

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// inMemory tells how many modules' code is in memory.
func (h *Host) inMemory() int {
	h.engines.mu.Lock()
	defer h.engines.mu.Unlock()
	return len(h.engines.known)
}

func TestCodeOfAToolThatNobodyCallsLeavesMemoryAndComesBack(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	synctest.Test(t, func(t *testing.T) {
		host := newHost(t, Config{CacheDir: cache, Idle: time.Minute})
		plugin := load(t, host, Module{Bytes: wat(t, "abi/tool-answers")})
		for range 2 {
			if err := runAny(t.Context(), plugin); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute - 1)
			if host.inMemory() != 1 {
				t.Fatal("the code left before its time")
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if host.inMemory() != 0 {
				t.Fatal("the code of an idle tool stayed")
			}
		}
		if state, _ := plugin.Status(); state != "ready" {
			t.Errorf("an idle tool is %s", state)
		}
	})
}

func TestOnlyAToolWithACacheLeavesMemory(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	synctest.Test(t, func(t *testing.T) {
		policies := newHost(t, Config{CacheDir: cache, Idle: time.Minute})
		load(t, policies, Module{Bytes: wat(t, "abi/policy-allows")})
		uncached := newHost(t, Config{Idle: time.Minute})
		load(t, uncached, Module{Bytes: wat(t, "abi/tool-answers")})
		unbound := newHost(t, Config{CacheDir: cache})
		load(t, unbound, Module{Bytes: wat(t, "abi/tool-answers")})
		time.Sleep(time.Hour)
		synctest.Wait()
		for name, host := range map[string]*Host{"a policy": policies, "a tool without a cache": uncached, "a tool without a time": unbound} {
			if host.inMemory() != 1 {
				t.Errorf("the code of %s left", name)
			}
		}
	})
}

func TestCallsOfATwinKeepCodeInMemory(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	synctest.Test(t, func(t *testing.T) {
		host := newHost(t, Config{CacheDir: cache, Idle: time.Minute})
		first, second := load(t, host, Module{Bytes: wat(t, "abi/tool-answers")}), load(t, host, Module{Bytes: wat(t, "abi/tool-answers")})
		time.Sleep(59 * time.Second)
		if err := runAny(t.Context(), second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if host.inMemory() != 1 {
			t.Error("code left that was used two seconds ago")
		}
		if err := first.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := runAny(t.Context(), second); err != nil {
			t.Errorf("the twin of one that was closed: %v", err)
		}
		if err := second.Close(t.Context()); err != nil || host.inMemory() != 0 {
			t.Errorf("after both were closed %d are in memory: %v", host.inMemory(), err)
		}
	})
}

func TestCallsThatWakeAToolTogetherAllGetAnAnswer(t *testing.T) {
	host := newHost(t, Config{CacheDir: filepath.Join(t.TempDir(), "cache"), Idle: time.Nanosecond})
	plugin := load(t, host, Module{Bytes: wat(t, "abi/tool-answers")})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 5 {
				if err := runAny(t.Context(), plugin); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
}

func TestAToolThatDozesIsOutOfMemoryAtOnceAndAnswersItsNextCall(t *testing.T) {
	host := newHost(t, Config{CacheDir: filepath.Join(t.TempDir(), "cache"), Idle: time.Hour})
	plugin := load(t, host, Module{Bytes: wat(t, "abi/tool-answers")})
	if err := plugin.Doze(t.Context()); err != nil || host.inMemory() != 0 {
		t.Errorf("%d in memory, %v", host.inMemory(), err)
	}
	if err := runAny(t.Context(), plugin); err != nil || host.inMemory() != 1 {
		t.Errorf("%d in memory, %v", host.inMemory(), err)
	}
}

func TestAToolIsTakenAtItsProofAndAPolicyIsTriedEachTime(t *testing.T) {
	cfg := Config{CacheDir: filepath.Join(t.TempDir(), "cache"), Idle: time.Hour}
	for n, want := range []int{2, 1} { // modules whose code the load needed
		host := newHost(t, cfg)
		for _, name := range []string{"abi/tool-answers", "abi/policy-allows"} {
			plugin := load(t, host, Module{Bytes: wat(t, name)})
			if err := plugin.SelfTest(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := runAny(t.Context(), plugin); err != nil {
					t.Errorf("start %d: %v", n, err)
				}
			}()
		}
		if got := host.inMemory(); got != want {
			t.Errorf("start %d brought %d modules to memory, want %d", n, got, want)
		}
	}
}

func TestAProofHoldsForItsTermsOnly(t *testing.T) {
	cfg := Config{CacheDir: filepath.Join(t.TempDir(), "cache"), Idle: time.Hour}
	prove := func(limits sdk.Limits) (compiled bool) {
		host := newHost(t, cfg)
		plugin := load(t, host, Module{Bytes: wat(t, "abi/tool-answers"), Limits: limits})
		if err := plugin.SelfTest(t.Context()); err != nil {
			t.Fatal(err)
		}
		return host.inMemory() > 0
	}
	other := sdk.Limits{Wall: sdk.Duration(7 * time.Second)}
	for i, c := range []struct {
		limits sdk.Limits
		want   bool
	}{{sdk.Limits{}, true}, {sdk.Limits{}, false}, {other, true}, {sdk.Limits{}, false}, {other, false}} {
		if got := prove(c.limits); got != c.want {
			t.Errorf("load %d: started anew: %v, want %v", i, got, c.want)
		}
	}
	if err := os.RemoveAll(cfg.CacheDir); err != nil {
		t.Fatal(err)
	}
	if !prove(other) {
		t.Error("a proof outlived its cache")
	}
}
