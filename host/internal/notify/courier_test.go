package notify

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// silent is a receiver that never answers. It counts who waits.
type silent struct{ now, most, tries atomic.Int32 }

func (s *silent) RoundTrip(request *http.Request) (*http.Response, error) {
	s.tries.Add(1)
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	defer s.now.Add(-1)
	<-request.Context().Done()
	return nil, request.Context().Err()
}

// wait lets a messenger with so many notices wait for a silent receiver.
func wait(t *testing.T, notices int, span time.Duration) *silent {
	t.Helper()
	s := &silent{}
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		for i := range notices {
			n := notice(time.Now())
			n.ID = fmt.Sprintf("approval-%d:requested", i)
			b.waiting[n.ID], b.due[n.ID] = n, n.CreatedAt
		}
		ctx, stop := context.WithTimeout(t.Context(), span)
		defer stop()
		New(Config{
			Outbox: b, URL: "http://hook.example/x", Secret: secret, Mask: plainMask{"TOKEN-9"}, HTTP: &http.Client{Transport: s},
		}).Run(ctx)
	})
	return s
}

func TestAReceiverThatNeverAnswersIsTriedAgain(t *testing.T) {
	if s := wait(t, 1, time.Minute); s.tries.Load() < 3 {
		t.Errorf("%d tries in a minute", s.tries.Load())
	}
}

func TestFewNoticesAreOnTheirWayAtOnce(t *testing.T) {
	if s := wait(t, 20, time.Minute); s.most.Load() != 4 {
		t.Errorf("%d notices at once", s.most.Load())
	}
}
