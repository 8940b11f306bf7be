package mcpbridge

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// quietWire is a wire that answers everything with an empty object.
type quietWire struct{ *mortality }

func (w quietWire) Start(context.Context) error                                       { return nil }
func (w quietWire) SendNotification(context.Context, mcp.JSONRPCNotification) error   { return nil }
func (w quietWire) SetNotificationHandler(func(notification mcp.JSONRPCNotification)) {}
func (w quietWire) Close() error                                                      { w.fail(errClosed); return nil }
func (w quietWire) GetSessionId() string                                              { return "" }
func (w quietWire) SendRequest(context.Context, transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return &transport.JSONRPCResponse{Result: []byte("{}")}, nil
}

// linkWith returns a link over dial whose tasks end with the returned function.
func linkWith(dial func(context.Context) (*session, error)) (*link, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	l := &link{
		dial: dial, ready: func(context.Context, *session) error { return nil }, now: time.Now,
		timeout: time.Second, silence: time.Second, first: time.Second, most: 8 * time.Second, stop: make(chan struct{}),
		spawn: func(task func(context.Context)) bool { go task(ctx); return true },
	}
	return l, func() { cancel(); synctest.Wait() }
}

func TestFailedServerIsTriedAgainByItselfEverMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var tries []time.Duration
		l, end := linkWith(func(context.Context) (*session, error) {
			tries = append(tries, time.Since(start))
			return nil, errNotStarted
		})
		defer end()
		l.persistent = true
		_, _ = l.acquire(context.Background())
		<-time.After(30 * time.Second)
		synctest.Wait()
		want := []time.Duration{0, 0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 23 * time.Second}
		if diff := cmp.Diff(want, tries); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCallsDuringBackoffFailAtOnceWithoutATry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		l, end := linkWith(func(context.Context) (*session, error) { tries.Add(1); return nil, errNotStarted })
		defer end()
		for range 5 {
			_, _ = l.acquire(context.Background())
		}
		if _, err := l.acquire(context.Background()); tries.Load() != 2 || !errors.Is(err, errWaiting) {
			t.Errorf("%d tries, %v", tries.Load(), err)
		}
	})
}

func TestCallAfterBackoffTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		l, end := linkWith(func(context.Context) (*session, error) {
			if tries.Add(1) < 3 {
				return nil, errNotStarted
			}
			return newSession(quietWire{newMortality()}, "", replies{}), nil
		})
		defer end()
		_, _ = l.acquire(context.Background())
		_, _ = l.acquire(context.Background())
		<-time.After(time.Second)
		if _, err := l.acquire(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestManyCallersShareOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		l, end := linkWith(func(context.Context) (*session, error) {
			tries.Add(1)
			<-time.After(500 * time.Millisecond)
			return newSession(quietWire{newMortality()}, "", replies{}), nil
		})
		defer end()
		got := make(chan *session, 10)
		for range 10 {
			go func() { s, _ := l.acquire(context.Background()); got <- s }()
		}
		first := <-got
		for range 9 {
			if other := <-got; other != first {
				t.Error("callers got different sessions")
			}
		}
		if tries.Load() != 1 {
			t.Errorf("%d tries", tries.Load())
		}
	})
}

func TestSessionThatServedIsReplacedAtOnceEachTimeItDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, end := linkWith(func(context.Context) (*session, error) {
			return newSession(quietWire{newMortality()}, "", replies{}), nil
		})
		defer end()
		for range 5 {
			s, err := l.acquire(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			s.served.Store(true)
			s.wire.fail(errExited)
		}
	})
}

func TestServerThatDiesRightAfterEveryStartIsBackedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		l, end := linkWith(func(context.Context) (*session, error) {
			tries.Add(1)
			w := quietWire{newMortality()}
			w.fail(errExited)
			return newSession(w, "", replies{}), nil
		})
		defer end()
		l.persistent = true
		_, _ = l.acquire(context.Background())
		<-time.After(10 * time.Second)
		if tries.Load() > 6 {
			t.Errorf("%d tries in ten seconds", tries.Load())
		}
	})
}

func TestImpatientCallerLeavesTheAttemptToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, end := linkWith(func(context.Context) (*session, error) {
			<-time.After(500 * time.Millisecond)
			return newSession(quietWire{newMortality()}, "", replies{}), nil
		})
		defer end()
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if _, err := l.acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := l.acquire(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestToolListThatKeepsChangingIsReadOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(quietWire{newMortality()}, "", replies{})
		l, end := linkWith(func(context.Context) (*session, error) { return s, nil })
		defer end()
		var reads atomic.Int32
		l.ready = func(context.Context, *session) error { reads.Add(1); return nil }
		l.rest, l.silence = time.Second, time.Second
		if _, err := l.acquire(context.Background()); err != nil {
			t.Fatal(err)
		}
		for range 500 { // five seconds of news
			raise(s.changed)
			<-time.After(10 * time.Millisecond)
		}
		<-time.After(2 * time.Second)
		if n := reads.Load(); n < 5 || n > 8 {
			t.Errorf("read %d times", n)
		}
	})
}
