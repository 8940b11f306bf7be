package meter_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

var errLate = errors.New("deadline passed")

// patience is the time after which a hostile function has to end, prompt the time within which it has to. The figures
// that matter are in BenchmarkDeadline.
const (
	patience = 50 * time.Millisecond
	prompt   = 5 * time.Second
)

// hostileLimits keep the native stack small.
var hostileLimits = meter.Options{MemoryPages: 4096, TableEntries: 1_100_000, CallDepth: 20_000}

func TestEveryHostileShapeIsEndedByATick(t *testing.T) {
	for name := range hostile(t, deadline()).ExportedFunctionDefinitions() {
		t.Run(name, func(t *testing.T) {
			m := hostile(t, deadline())
			began := time.Now()
			_, err := m.ExportedFunction(name).Call(t.Context())
			took := time.Since(began)
			if !errors.Is(err, errLate) && !errors.Is(err, errDeep) {
				t.Errorf("ended with %v", err)
			}
			if took > prompt {
				t.Errorf("ended after %v", took)
			}
			t.Log("ended after", took)
		})
	}
}

func TestSpinningStartFunctionIsEndedByATick(t *testing.T) {
	r, c := newRuntime(t), deadline()
	c.install(t, r)
	_, err := r.Instantiate(t.Context(), rewrite(t, readFile(t, "testdata/start.wasm"), hostileLimits))
	if !errors.Is(err, errLate) {
		t.Errorf("instantiation ended with %v", err)
	}
}

func TestCollectorRunsBesideASpinningGuest(t *testing.T) {
	m := hostile(t, deadline())
	done := make(chan error, 1)
	go func() {
		_, err := m.ExportedFunction("loop").Call(context.WithoutCancel(t.Context()))
		done <- err
	}()
	began := time.Now()
	runtime.GC()
	took := time.Since(began)
	if err := <-done; !errors.Is(err, errLate) {
		t.Errorf("ended with %v", err)
	}
	if took > prompt {
		t.Errorf("the collector took %v", took)
	}
}

// deadline is a clock that ends a guest when its patience is over. It starts with the first tick.
func deadline() *clock {
	var end time.Time
	return &clock{expired: func() error {
		switch now := time.Now(); {
		case end.IsZero():
			end = now.Add(patience)
		case now.After(end):
			return errLate
		}
		return nil
	}}
}

func hostile(t testing.TB, c *clock) api.Module {
	t.Helper()
	r := newRuntime(t)
	c.install(t, r)
	_, err := r.NewHostModuleBuilder("host").NewFunctionBuilder().WithFunc(func() {}).Export("nothing").Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Instantiate(t.Context(), rewrite(t, readFile(t, "testdata/hostile.wasm"), hostileLimits))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
