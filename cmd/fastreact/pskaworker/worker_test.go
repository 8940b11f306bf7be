package pskaworker

import (
	"bytes"
	"context"
	"fmt"
	"io"
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
		run := Job{ID: "j", Tenant: "pska"}.RunID(1)
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
			w.statuses[Job{ID: "j", Tenant: "pska"}.RunID(n+1)] = "failed"
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

// strict is a PSKA that refuses what the contract does not name.
func (w *world) strict(query bool, fields ...string) {
	w.t.Helper()
	inner := w.config.PSKA.HTTP.Transport.(near)
	w.config.PSKA.HTTP = &http.Client{Transport: near{http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var body []byte
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		for _, field := range fields {
			if strings.Contains(string(body), fmt.Sprintf("%q:", field)) && !strings.HasSuffix(r.URL.Path, "/lease") {
				out.WriteHeader(http.StatusUnprocessableEntity)
				return
			}
		}
		if query && r.URL.Path == "/jobs" && r.URL.RawQuery != "" {
			out.WriteHeader(http.StatusBadRequest)
			return
		}
		inner.ServeHTTP(out, r)
	})}}
}

func TestPSKAThatRefusesParametersItDoesNotKnowIsAskedWithoutThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queued("j"))
		w.strict(true)
		w.work()
		if done := w.count("POST /jobs/j/complete"); done != 1 {
			t.Errorf("completed %d times: %v", done, w.calls)
		}
	})
}

func TestPSKAThatRefusesTheWorkersNameTakesTheResultWithoutIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queued("j"))
		w.strict(false, "worker_id")
		w.work()
		if body := w.body("POST /jobs/j/complete"); !strings.HasPrefix(body, `{"result":{`) || w.count("POST /jobs/j/fail") != 0 {
			t.Errorf("completed with %q: %v", body, w.calls)
		}
	})
}

func TestAResultThatIsRefusedFailsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queued("j"))
		w.answers["POST /jobs/j/complete"] = func() (int, string) { return http.StatusRequestEntityTooLarge, `` }
		w.work()
		if body := w.body("POST /jobs/j/fail"); !strings.Contains(body, "result_refused") || !strings.Contains(body, `"retryable":false`) {
			t.Errorf("failed with %s", body)
		}
	})
}

func TestAJobThatCannotBeLeasedKeepsNoOtherFromItsTurn(t *testing.T) {
	for _, status := range []int{http.StatusConflict, http.StatusInternalServerError} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, queued("head"), queued("other"))
				w.config.Once = false
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				w.answers["POST /jobs/head/lease"] = func() (int, string) { return status, `` }
				w.answers["POST /jobs/other/complete"] = func() (int, string) { stop(); return http.StatusOK, `` }
				w.workUntil(ctx)
				if w.count("POST /jobs/other/complete") != 1 {
					t.Errorf("calls %v", w.calls)
				}
			})
		})
	}
}

func TestAFaultThatPassesDoesNotUseUpTheTriesOfAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queued("j"))
		w.config.Once = false
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
		defer stop()
		w.follow = func(_ *http.Request, id string) string {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.statuses[id] = "failed"
			if len(w.statuses) > 50 {
				stop()
			}
			return "error"
		}
		w.workUntil(ctx)
		if tries := w.count("POST /v1/runs"); tries < 10 || tries > 40 {
			t.Errorf("%d runs in five minutes", tries)
		}
	})
}

func TestARunThatReachedALimitIsFollowedByTheNextWhenPSKAAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queued("j"))
		first := Job{ID: "j", Tenant: "pska"}.RunID(1)
		w.statuses[first], w.stops[first] = "completed", "max_iterations"
		w.work()
		if w.count("POST /v1/runs") != 1 || w.count("POST /jobs/j/complete") != 1 {
			t.Errorf("calls %v", w.calls)
		}
	})
}

func TestTwoTenantsJobsOfOneIDHaveRunsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queued("j"))
		w.config.PSKA.Tenant = "a"
		w.work()
		w.config.PSKA.Tenant = "b"
		w.work()
		if runs := w.count("POST /v1/runs"); runs != 2 {
			t.Errorf("%d runs for two tenants' jobs", runs)
		}
	})
}

func TestAJobWhoseEndIsNotTakenIsNotLeasedWithoutAPause(t *testing.T) {
	for _, status := range []int{http.StatusConflict, http.StatusRequestEntityTooLarge} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, queued("j"))
				w.config.Once = false
				ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
				defer stop()
				tries := 0
				w.answers["POST /jobs/j/complete"] = func() (int, string) {
					if tries++; tries > 50 {
						stop()
					}
					return status, ``
				}
				w.answers["POST /jobs/j/fail"] = func() (int, string) { return status, `` }
				w.workUntil(ctx)
				if tries > 40 {
					t.Errorf("%d tries in five minutes", tries)
				}
			})
		})
	}
}
