package executor_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/executor"
)

func TestAnExecutorCountsWhatRunsWaitsAndFoundNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := executor.New(executor.Config{Name: "model", Size: 1, Queue: 1})
		if err != nil {
			t.Fatal(err)
		}
		open := make(chan struct{})
		for range 3 {
			_ = e.Submit(func() { <-open }) // the third finds no room, which is counted below
		}
		synctest.Wait()
		want := executor.Stats{Name: "model", Size: 1, Queue: 1, Running: 1, Waiting: 1, Rejected: 1}
		if diff := cmp.Diff(want, e.Stats()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
		close(open)
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
