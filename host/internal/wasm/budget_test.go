package wasm

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaiterFindsMemoryThatCameToRestAfterHeHadLooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		b := &memoryBudget{limit: 100, used: 100}
		b.shed = func() {
			if looks++; looks == 2 {
				b.give(100)
			}
		}
		if err := b.await(t.Context(), 60, time.Minute, nil); err != nil || b.inUse() != 60 {
			t.Errorf("%v, with %d bytes in use", err, b.inUse())
		}
	})
}

func TestWhoWaitsForMemoryLeavesWhenThePluginEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &memoryBudget{limit: 100, used: 100, shed: func() {}}
		stop, begin := make(chan struct{}), time.Now()
		time.AfterFunc(time.Second, func() { close(stop) })
		err := b.await(t.Context(), 60, time.Minute, stop)
		if took := time.Since(begin); !errors.Is(err, ErrClosed) || took != time.Second || b.pressed() {
			t.Errorf("%v after %v", err, took)
		}
	})
}
