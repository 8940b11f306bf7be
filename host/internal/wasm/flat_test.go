package wasm

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

// footprint is what a process holds.
type footprint struct {
	heap, resident int64 // bytes
	goroutines     int
	mappings       int
}

// String is for the test's log.
func (f footprint) String() string {
	return fmt.Sprintf("heap %d KiB, resident %d KiB, %d goroutines, %d mappings", f.heap>>10, f.resident>>10, f.goroutines, f.mappings)
}

func weighProcess(t *testing.T) footprint {
	t.Helper()
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	f := footprint{heap: int64(stats.HeapAlloc), goroutines: runtime.NumGoroutine()}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		f.mappings = bytes.Count(maps, []byte("\n"))
	}
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, err := strconv.ParseInt(string(bytes.Fields(statm)[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		f.resident = pages * int64(os.Getpagesize())
	}
	return f
}

// flat reports what grew beyond what a runtime's own noise explains.
func flat(t *testing.T, before, after footprint) {
	t.Helper()
	t.Logf("before: %v", before)
	t.Logf("after:  %v", after)
	if after.heap > before.heap+8<<20 || after.resident > before.resident+64<<20 {
		t.Error("memory grew")
	}
	if after.goroutines > before.goroutines+2 || after.mappings > before.mappings+40 {
		t.Error("goroutines or mappings were left behind")
	}
}

func TestAHundredThousandCallsLeaveMemoryFlat(t *testing.T) {
	host := newHost(t, Config{})
	good := load(t, host, Module{Bytes: wat(t, "abi/policy-allows")})
	bad := load(t, host, Module{Bytes: wat(t, "hostile/unreachable")})
	question := warmUps(sdk.KindPolicy)[0].input
	calls := func(n int) {
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for k := range n / 4 {
					plugin := good
					if k%100 == 99 {
						plugin = bad
					}
					if _, err := plugin.exchange(t.Context(), sdk.OpEvaluate, CallContext{}, question); (err != nil) != (plugin == bad) {
						t.Error(err)
						return
					}
				}
			})
		}
		callers.Wait()
	}
	calls(2000)
	before := weighProcess(t)
	calls(100_000)
	flat(t, before, weighProcess(t))
	if mapped := host.budget.mapped.Load(); mapped > int64(good.limits.Leases+bad.limits.Leases) {
		t.Errorf("%d memories are mapped", mapped)
	}
}

func TestFiveHundredLoadsAndClosesLeaveMemoryFlat(t *testing.T) {
	host := newHost(t, Config{})
	modules := [][]byte{wat(t, "abi/policy-allows"), wat(t, "abi/tool-answers"), wat(t, "hostile/leaky"), wat(t, "hostile/unreachable")}
	reload := func(n int) {
		for k := range n {
			plugin := load(t, host, Module{Bytes: modules[k%len(modules)]})
			_ = runAny(t.Context(), plugin)
			if err := plugin.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	reload(20)
	before := weighProcess(t)
	reload(500)
	flat(t, before, weighProcess(t))
	if mapped, used := host.budget.mapped.Load(), host.MemoryInUse(); mapped != 0 || used != 0 {
		t.Errorf("%d memories are mapped, %d bytes are in use", mapped, used)
	}
}
