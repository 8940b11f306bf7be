package pskaworker

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestALeaseIsRenewedThroughARunThatIsLongerThanIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queued("j"))
		w.follow = func(r *http.Request, _ string) string { after(r, 900*time.Second); return "session_end" }
		w.work()
		if leased, done := w.count("POST /jobs/j/lease"), w.count("POST /jobs/j/complete"); leased < 9 || leased > 11 || done != 1 {
			t.Errorf("leased %d times, completed %d times", leased, done)
		}
	})
}

func TestARunThatTakesTooLongIsCancelledAndReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queued("j"))
		w.follow = func(r *http.Request, _ string) string { after(r, 24*time.Hour); return "session_end" }
		w.work()
		run := Job{ID: "j"}.RunID(1)
		if body := w.body("POST /jobs/j/fail"); !strings.Contains(body, "run_timeout") || !strings.Contains(body, `"retryable":true`) {
			t.Errorf("failed with %s", body)
		}
		if w.count("POST /v1/runs/"+run+"/cancel") != 1 || w.count("POST /jobs/j/complete") != 0 {
			t.Errorf("calls %v", w.calls)
		}
	})
}

func TestNoMoreJobsThanPlacesAreWorkedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 7 {
			w.jobs = append(w.jobs, queued(fmt.Sprint("j", i)))
		}
		w.config.Concurrency = 3
		var now, most atomic.Int32
		w.follow = func(r *http.Request, _ string) string {
			most.Store(max(most.Load(), now.Add(1)))
			after(r, time.Minute)
			now.Add(-1)
			return "session_end"
		}
		w.work()
		if most.Load() != 3 {
			t.Errorf("%d jobs at once, want 3", most.Load())
		}
	})
}

func TestAJobWhoseRunsAllFailedIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queued("j"))
		for n := range maxRuns {
			w.statuses[Job{ID: "j"}.RunID(n+1)] = "failed"
		}
		w.work()
		if body := w.body("POST /jobs/j/fail"); !strings.Contains(body, "too_many_runs") || !strings.Contains(body, `"retryable":false`) {
			t.Errorf("failed with %s", body)
		}
	})
}

func TestARunThatAnotherWorkerCancelledIsFollowedByTheNext(t *testing.T) {
	for _, reason := range []string{reasonLost, reasonStopped, reasonTimeout} {
		if err := failed("cancelled", reason, "Run cancelled"); err != errOvertaken { //nolint:errorlint // the very value
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestAResultWhoseAnswerIsLostIsRepeatedOnlyUnderTheLease(t *testing.T) {
	for name, c := range map[string]struct {
		lease int // what PSKA says to the lease after the lost answer
		want  int // completions sent in all
	}{
		"the result was taken":     {http.StatusConflict, 1},
		"the result was not taken": {http.StatusOK, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, queued("j"))
				tried := false
				w.answers["POST /jobs/j/complete"] = func() (int, string) {
					if tried {
						return http.StatusOK, `{}`
					}
					tried = true
					w.mu.Lock()
					w.answers["POST /jobs/j/lease"] = func() (int, string) { return c.lease, `{}` }
					w.mu.Unlock()
					return http.StatusBadGateway, ``
				}
				w.work()
				if got := w.count("POST /jobs/j/complete"); got != c.want || w.count("POST /jobs/j/fail") != 0 {
					t.Errorf("%d completions, want %d: %v", got, c.want, w.calls)
				}
			})
		})
	}
}

func TestWhatEitherSideRefusesFailsTheJob(t *testing.T) {
	for name, c := range map[string]struct {
		call      string
		status    int
		code      string
		retryable bool
	}{
		"a batch that is not there": {"GET /digest/batches/j", http.StatusNotFound, "batch_refused", false},
		"a batch without end":       {"GET /digest/batches/j", http.StatusOK, "batch_endless", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, queued("j"))
				w.answers[c.call] = func() (int, string) { return c.status, `{"items":[],"next_cursor":"same"}` }
				w.work()
				body := w.body("POST /jobs/j/fail")
				if !strings.Contains(body, c.code) || !strings.Contains(body, fmt.Sprintf(`"retryable":%v`, c.retryable)) {
					t.Errorf("failed with %s", body)
				}
			})
		})
	}
}

func TestPSKAThatNeverAnswersEndsOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answers["GET /jobs"] = func() (int, string) { return http.StatusServiceUnavailable, `` }
		worker, err := New(w.config)
		if err != nil {
			t.Fatal(err)
		}
		if err := worker.Run(t.Context()); err == nil || w.count("GET /jobs") != onceTries {
			t.Errorf("%v after %d tries", err, w.count("GET /jobs"))
		}
	})
}
