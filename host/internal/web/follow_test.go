package web_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// silentLog is a log that tells nobody of what comes.
type silentLog struct {
	mu     sync.Mutex
	events []run.Event
}

func (l *silentLog) Run(context.Context, run.Ref) (run.Run, error) {
	return run.Run{Status: run.Running}, nil
}

func (l *silentLog) Events(_ context.Context, _ run.Ref, after int64, _ int) ([]run.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events[after+1:], nil
}

func (l *silentLog) Watch(run.Ref) (<-chan struct{}, func()) { return nil, func() {} }

func (l *silentLog) add(kind run.EventKind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, run.Event{Kind: kind, Sequence: int64(len(l.events))})
}

func TestAnEventOfWhichNobodyTellsIsFoundByLooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &silentLog{}
		var seen []time.Duration
		began := time.Now()
		tail := web.Tail{
			Log: log, After: -1, Poll: time.Second, Silence: time.Hour, Idle: func() error { return nil },
			Each: func(run.Event) error { seen = append(seen, time.Since(began)); return nil },
		}
		for i, kind := range []run.EventKind{run.SessionStart, run.SessionEnd} {
			time.AfterFunc(time.Duration(i+1)*10*time.Second+time.Millisecond, func() { log.add(kind) })
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := tail.Follow(ctx); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 2 || seen[0] > 11*time.Second || seen[1] > 21*time.Second {
			t.Errorf("seen after %v", seen)
		}
	})
}
