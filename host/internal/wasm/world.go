package wasm

import (
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"

	"github.com/fastreact/fastreact/sdk"
)

// What a pure guest's clocks show: 2000-01-01, and a second since the start, for Go's runtime refuses to start at
// zero. The real time of a question is in its input.
const (
	pureEpoch  = 946684800 // Unix seconds
	pureUptime = int64(time.Second)
)

// pureWorld is the world of a pure guest, the same for the same operation and input. It lives as long as its instance
// and is turned anew for every call. Sleeping takes no time, it only moves the guest's own clock.
type pureWorld struct {
	op      sdk.Op
	input   []byte
	dice    *rand.ChaCha8 // nil until the guest asks for randomness
	elapsed int64         // ns that the guest slept
}

// turn makes the world that of a call.
func (w *pureWorld) turn(op sdk.Op, input []byte) {
	*w = pureWorld{op: op, input: input}
}

// Read implements io.Reader: randomness that follows from operation and input.
func (w *pureWorld) Read(into []byte) (int, error) {
	if w.dice == nil {
		w.dice = diceOf(w.op, w.input)
	}
	return w.dice.Read(into)
}

func diceOf(op sdk.Op, input []byte) *rand.ChaCha8 {
	hash := sha256.New()
	hash.Write(binary.BigEndian.AppendUint32(nil, uint32(op)))
	hash.Write(input)
	return rand.NewChaCha8([32]byte(hash.Sum(nil)))
}

func (w *pureWorld) config() wazero.ModuleConfig {
	return wazero.NewModuleConfig().
		WithWalltime(func() (int64, int32) {
			return pureEpoch + w.elapsed/int64(time.Second), int32(w.elapsed % int64(time.Second))
		}, sys.ClockResolution(time.Millisecond)).
		WithNanotime(func() int64 { return pureUptime + w.elapsed }, sys.ClockResolution(time.Millisecond)).
		WithNanosleep(func(ns int64) { w.elapsed = later(w.elapsed, ns) }).
		WithOsyield(func() {}).
		WithRandSource(w)
}

// later adds a sleep to the pure clock, which stops at an hour: no honest guest sleeps that long, and a clock that
// wraps could run backwards.
func later(elapsed, ns int64) int64 {
	if ns <= 0 {
		return elapsed
	}
	return min(elapsed+min(ns, int64(time.Hour)), int64(time.Hour))
}

// toolWorld is the world of a tool: real clock and randomness, no environment, no arguments. Its sleeps end with ctx.
func toolWorld(ctx context.Context) wazero.ModuleConfig {
	return wazero.NewModuleConfig().
		WithSysWalltime().
		WithSysNanotime().
		WithNanosleep(func(ns int64) { sleep(ctx, ns) }).
		WithOsyield(func() {}).
		WithRandSource(crand.Reader)
}

func sleep(ctx context.Context, ns int64) {
	if ns <= 0 {
		return
	}
	timer := time.NewTimer(time.Duration(ns))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
