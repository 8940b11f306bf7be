package executor_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/executor"
)

func start(t *testing.T, size, queue int) *executor.Executor {
	t.Helper()
	e, err := executor.New(executor.Config{Name: "test", Size: size, Queue: queue})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func closed(t *testing.T, e *executor.Executor) {
	t.Helper()
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// until waits for a channel, or for the end of the context.
func until(gate <-chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func TestWorkIsDoneAndItsErrorReturned(t *testing.T) {
	e := start(t, 1, 1)
	defer closed(t, e)
	own := errors.New("own")
	if err := e.Do(t.Context(), func(context.Context) error { return own }); !errors.Is(err, own) {
		t.Errorf("got %v", err)
	}
	done := false
	if err := e.Do(t.Context(), func(context.Context) error { done = true; return nil }); err != nil || !done {
		t.Errorf("done %v, %v", done, err)
	}
}

func TestWhatFindsNoRoomIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, 2, 1)
		gate := make(chan struct{})
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() {
				if err := e.Do(t.Context(), until(gate)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := e.Do(t.Context(), until(gate)); !errors.Is(err, executor.ErrSaturated) || errors.Is(err, executor.ErrClosed) {
			t.Errorf("a fourth task: %v", err)
		}
		if err := e.Submit(func() { t.Error("it ran") }); !errors.Is(err, executor.ErrSaturated) {
			t.Errorf("a fourth task handed over: %v", err)
		}
		close(gate)
		callers.Wait()
		if err := e.Do(t.Context(), until(gate)); err != nil {
			t.Errorf("when there is room again: %v", err)
		}
		closed(t, e)
	})
}

func TestNoMoreRunsAtATimeThanWasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, 3, 20)
		var now, most atomic.Int32
		var callers sync.WaitGroup
		for range 23 {
			callers.Go(func() {
				err := e.Do(t.Context(), func(context.Context) error {
					most.Store(max(most.Load(), now.Add(1)))
					<-time.After(time.Second)
					now.Add(-1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		closed(t, e)
		if most.Load() != 3 {
			t.Errorf("%d at a time", most.Load())
		}
	})
}

func TestATaskIsCancelledWhenItsCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, 1, 1)
		ctx, leave := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		heard := make(chan error, 1)
		result := make(chan error, 1)
		go func() {
			result <- e.Do(ctx, func(ctx context.Context) error {
				<-ctx.Done()
				heard <- context.Cause(ctx)
				return nil
			})
		}()
		synctest.Wait()
		leave(gone)
		if err := <-result; !errors.Is(err, gone) {
			t.Errorf("the caller got %v", err)
		}
		if err := <-heard; !errors.Is(err, gone) {
			t.Errorf("the task heard %v", err)
		}
		closed(t, e)
	})
}

func TestNobodyWaitsForATaskThatDoesNotListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, 1, 1)
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		deaf := make(chan struct{})
		err := e.Do(ctx, func(context.Context) error { <-deaf; return errors.New("late") })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(deaf)
		if err := e.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Errorf("the next task: %v", err)
		}
		closed(t, e)
	})
}

func TestATaskWhoseCallerLeftBeforeItsTurnNeverBeginsAndGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, 1, 1)
		gate := make(chan struct{})
		first := make(chan error, 1)
		go func() { first <- e.Do(t.Context(), until(gate)) }()
		synctest.Wait()
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if err := e.Do(ctx, func(context.Context) error { t.Error("it began"); return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := e.Submit(func() {}); err != nil {
			t.Errorf("the place was not given back: %v", err)
		}
		close(gate)
		if err := <-first; err != nil {
			t.Error(err)
		}
		closed(t, e)
	})
}

func TestWorkNeverRunsOnTheCallersGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, 1, 0)
		gate, ran := make(chan struct{}), false
		if err := e.Submit(func() { <-gate; ran = true }); err != nil {
			t.Fatal(err)
		}
		close(gate) // nobody would come this far otherwise
		closed(t, e)
		if !ran {
			t.Error("it did not run")
		}
	})
}

func TestAPanicHarmsNobodyElseAndSaysNothing(t *testing.T) {
	e := start(t, 1, 1)
	defer closed(t, e)
	err := e.Do(t.Context(), func(context.Context) error { panic("the canary sings") })
	var contained *executor.PanicError
	if !errors.As(err, &contained) || contained.Kind != "string" || strings.Contains(err.Error(), "canary sings") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(contained.Stack, "executor_test.go") {
		t.Errorf("the stack does not say where: %s", contained.Stack)
	}
	if err := e.Submit(func() { panic("again") }); err != nil {
		t.Error(err)
	}
	if err := e.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestCloseWaitsForWhatWasTakenAndTakesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, 1, 2)
		var ended atomic.Int32
		for range 3 {
			if err := e.Submit(func() { <-time.After(time.Minute); ended.Add(1) }); err != nil {
				t.Fatal(err)
			}
		}
		closed(t, e)
		if ended.Load() != 3 {
			t.Errorf("%d ended", ended.Load())
		}
		if err := e.Do(t.Context(), func(context.Context) error { return nil }); !errors.Is(err, executor.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if err := e.Submit(func() {}); !errors.Is(err, executor.ErrSaturated) {
			t.Errorf("handed over after Close: %v", err)
		}
	})
}

func TestCloseCancelsWhatItCannotWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, 1, 1)
		heard := make(chan error, 2)
		for range 2 {
			go func() { heard <- e.Do(t.Context(), until(nil)) }()
		}
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := e.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close: %v", err)
		}
		for range 2 {
			if err := <-heard; !errors.Is(err, executor.ErrClosed) {
				t.Errorf("a task heard %v", err)
			}
		}
	})
}

func TestLimitsOutOfBoundsAreRefused(t *testing.T) {
	for _, cfg := range []executor.Config{{Size: 0, Queue: 1}, {Size: -1, Queue: 1}, {Size: 1, Queue: -1}} {
		if e, err := executor.New(cfg); err == nil || e != nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}
