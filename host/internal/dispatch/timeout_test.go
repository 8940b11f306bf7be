package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

func TestARunHasTheLesserOfItsOwnTimeAndEverybodys(t *testing.T) {
	for name, test := range map[string]struct{ asked, want time.Duration }{
		"less":    {3 * time.Second, 3 * time.Second},
		"more":    {time.Hour, 7 * time.Second},
		"nothing": {0, 7 * time.Second},
		"below":   {-time.Second, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(cfg *Config) { cfg.RunTimeout = 7 * time.Second })
				b.s.drive = waitForEnd
				asked := request(run.Chat, "a")
				asked.RunTimeout = test.asked
				began := time.Now()
				b.chat(asked)
				r := b.awaitStatus("a", run.Failed)
				if took := time.Since(began).Round(time.Second); took != test.want || r.Outcome.ErrorCode != string(run.CodeTimeout) {
					t.Errorf("%s after %s", r.Outcome.ErrorCode, took)
				}
			})
		})
	}
}

func TestARunInTurnWaitsNoLongerThanItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.s.drive = waitForEnd
		b.chat(asking(run.Chat, "first", run.Parallel))
		next := asking(run.Chat, "next", run.Enqueue)
		next.RunTimeout = 3 * time.Second
		began := time.Now()
		b.chat(next)
		r := b.awaitStatus("next", run.Failed)
		if took := time.Since(began).Round(time.Second); took != 3*time.Second || r.Outcome.ErrorCode != string(run.CodeTimeout) {
			t.Errorf("%s after %s", r.Outcome.ErrorCode, took)
		}
	})
}

func TestACancelledRunEndsWithExactlyTheReasonThatWasGivenFirst(t *testing.T) {
	b := newBench(t, nil)
	b.s.drive = waitForEnd
	detached := request(run.Chat, "a")
	detached.Detached = true
	b.chat(detached)
	r, err := b.Cancel(t.Context(), ref("a"), "CLIENT_DISCONNECT", run.Idempotency{})
	if err != nil || r.Status != run.Cancelled || r.Cancel != "CLIENT_DISCONNECT" || r.Outcome.StopReason != "CLIENT_DISCONNECT" {
		t.Errorf("%s, cancel %q, stop reason %q, %v", r.Status, r.Cancel, r.Outcome.StopReason, err)
	}
	if again, err := b.Cancel(t.Context(), ref("a"), "another", run.Idempotency{}); err != nil || again.Cancel != "CLIENT_DISCONNECT" {
		t.Errorf("cancelled again: %q, %v", again.Cancel, err)
	}
}
