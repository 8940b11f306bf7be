package chat

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// pending plays a run whose model or tool goes on until it is cancelled, and then has an answer all the same.
func pending(_ context.Context, b *book, r run.Run) {
	b.add(r, run.Event{Kind: run.SessionStart}, run.Event{Kind: run.ToolCalled})
}

// want compares what became of the one run of b.
func wantCancelled(t *testing.T, b *book, reasons ...string) {
	t.Helper()
	runs, cancelled := b.stored()
	var want []string
	for _, reason := range reasons {
		want = append(want, runs[0].ID+" "+reason)
	}
	if diff := cmp.Diff(want, cancelled); diff != "" {
		t.Error(diff)
	}
}

func TestLeavingDuringTheRunCancelsItAndNothingFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, path := range []string{"/api/chat", "/api/ai_ops"} {
			ctx, leave := context.WithCancel(t.Context())
			b := newBook(func(ctx context.Context, b *book, r run.Run) {
				pending(ctx, b, r)
				synctest.Wait()
				leave()
				<-ctx.Done()
				b.mu.Lock()
				b.append(r.Ref, ended("ANSWER", `{"text":"late"}`))
				b.mu.Unlock()
			})
			body := map[string]string{"/api/chat": hello}[path]
			answer := post(ctx, served(t, b), path, body)
			synctest.Wait()
			got := answer.Body.String()
			if !strings.HasPrefix(got, "event: metadata\n") || strings.Contains(got, "late") ||
				strings.Contains(got, "done") || strings.Contains(got, "failure") || strings.Contains(got, "error") {
				t.Errorf("%s: %s", path, got)
			}
			wantCancelled(t, b, "CLIENT_DISCONNECT")
		}
	})
}

// "A disconnect that occurs before `onStarted` MUST be remembered and applied when the control becomes available."
func TestDisconnectBeforeRunControlPublicationIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		slow := &slowEngine{book: newBook(nil), stores: make(chan struct{})}
		handler := served(t, slow.book, func(cfg *Config, _ *web.Config) { cfg.Engine = slow })
		over := make(chan string)
		go func() { over <- post(ctx, handler, "/api/chat", hello).Body.String() }()
		synctest.Wait()
		leave()
		if got := <-over; got != "" {
			t.Errorf("something was written: %s", got)
		}
		wantCancelled(t, slow.book)
		close(slow.stores)
		synctest.Wait()
		wantCancelled(t, slow.book, "CLIENT_DISCONNECT")
	})
}

// slowEngine stores a run when it is told to.
type slowEngine struct {
	*book
	stores chan struct{}
}

func (e *slowEngine) Chat(ctx context.Context, request run.Request) (run.Run, error) {
	<-e.stores
	if ctx.Err() != nil {
		return run.Run{}, ctx.Err()
	}
	return e.book.Chat(ctx, request)
}

func TestLeavingWhileItWaitsForAWorkerMeansNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		b, workers := newBook(pending), newCrew(1)
		workers.begin = make(chan struct{})
		handler := served(t, b, func(cfg *Config, _ *web.Config) { cfg.Worker = workers })
		over := make(chan string)
		go func() { over <- post(ctx, handler, "/api/chat", hello).Body.String() }()
		synctest.Wait()
		leave()
		if got := <-over; got != "" {
			t.Errorf("something was written: %s", got)
		}
		synctest.Wait()
		if len(workers.room) > 0 {
			t.Error("the place was not given back")
		}
		close(workers.begin)
		synctest.Wait()
		if runs, cancelled := b.stored(); len(runs) > 0 || len(cancelled) > 0 {
			t.Errorf("%v %v", runs, cancelled)
		}
	})
}

func TestTheTimeOfAConnectionEndsAsADisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, begun := newBook(pending), time.Now()
		got := named(t, b, post(t.Context(), served(t, b), "/api/chat", hello).Body.String())
		if took := time.Since(begun); took != 150*time.Second {
			t.Errorf("the stream took %v", took)
		}
		if strings.Contains(got, "done") || strings.Contains(got, "failure") {
			t.Error(got)
		}
		wantCancelled(t, b, "CLIENT_DISCONNECT")
	})
}

func TestTheTimeOfARunIsTheEngines(t *testing.T) {
	b := newBook(diagnosed(ended("ANSWER", `{"text":"x"}`)))
	post(t.Context(), served(t, b), "/api/chat", hello)
	if runs, _ := b.stored(); runs[0].Request.RunTimeout != 120*time.Second {
		t.Error(runs[0].Request.RunTimeout)
	}
}

// brittle is a connection on which one write fails, counted from 1.
type brittle struct {
	*httptest.ResponseRecorder
	fails, writes int
}

func (w *brittle) Write(p []byte) (int, error) {
	w.writes++
	if w.writes >= w.fails {
		return 0, errors.New("connection reset")
	}
	return w.ResponseRecorder.Write(p)
}

func TestAWriteThatFailsIsADisconnect(t *testing.T) {
	for fails := 1; fails <= 5; fails++ {
		b := newBook(func(ctx context.Context, b *book, r run.Run) {
			pending(ctx, b, r)
			b.add(r, review("verifying"), review("repairing"))
		})
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/chat", strings.NewReader(hello))
		request.Header.Set("Content-Type", "application/json")
		writer := &brittle{httptest.NewRecorder(), fails, 0}
		served(t, b).ServeHTTP(writer, request)
		if writer.writes != fails {
			t.Errorf("%d writes, and number %d failed", writer.writes, fails)
		}
		wantCancelled(t, b, "CLIENT_DISCONNECT")
	}
}

// bursting is a connection that panics on its second write.
type bursting struct{ brittle }

func (w *bursting) Write(p []byte) (int, error) {
	if n, err := w.brittle.Write(p); err == nil {
		return n, nil
	}
	panic("a bug")
}

func TestAPanicWhileItIsWrittenCancelsTheRun(t *testing.T) {
	b := newBook(pending)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/chat", strings.NewReader(hello))
	request.Header.Set("Content-Type", "application/json")
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("the answer was not cut off")
			}
		}()
		served(t, b).ServeHTTP(&bursting{brittle{httptest.NewRecorder(), 2, 0}}, request)
	}()
	wantCancelled(t, b, "CLIENT_DISCONNECT")
}

func TestOfTwoClientsOnlyTheOneThatLeavesLosesItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook(func(ctx context.Context, b *book, r run.Run) {
			pending(ctx, b, r)
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
				b.add(r, ended("ANSWER", `{"text":"here"}`))
			}
		})
		handler := served(t, b)
		ctx, leave := context.WithCancel(t.Context())
		stays, goes := make(chan string, 1), make(chan string, 1)
		go func() { goes <- post(ctx, handler, "/api/chat", hello).Body.String() }()
		synctest.Wait()
		go func() { stays <- post(t.Context(), handler, "/api/chat", hello).Body.String() }()
		synctest.Wait()
		leave()
		if got := <-goes; strings.Contains(got, "done") {
			t.Error(got)
		}
		if got := <-stays; !strings.HasSuffix(got, frame("done", `{"outcome":"SUCCESS"}`)) {
			t.Error(got)
		}
		wantCancelled(t, b, "CLIENT_DISCONNECT")
	})
}

func TestLeavingAfterDoneChangesNothing(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	b := newBook(diagnosed(ended("ANSWER", `{"text":"x"}`)))
	got := post(ctx, served(t, b), "/api/chat", hello).Body.String()
	leave()
	if !strings.HasSuffix(got, frame("done", `{"outcome":"SUCCESS"}`)) {
		t.Error(got)
	}
	wantCancelled(t, b)
}

// A control cancels its run once, whatever the order in which the run comes and the client goes.
func TestAControlCancelsOnceInEveryOrder(t *testing.T) {
	type move string
	for _, order := range [][]move{
		{"start", "leave"},
		{"leave", "start"},
		{"start", "leave", "leave"},
		{"leave", "leave", "start"},
		{"start", "finish", "leave"},
		{"start", "leave", "finish"},
		{"leave"},
		{"start"},
	} {
		cancelled := 0
		c := &control{cancel: func(run.Ref, string) { cancelled++ }}
		for _, m := range order {
			switch m {
			case "start":
				c.started(run.Ref{ID: "r"})
			case "leave":
				c.stop(clientDisconnect)
			case "finish":
				c.finish()
			}
		}
		want := 0
		left, started, finished := slices.Index(order, "leave"), slices.Index(order, "start"), slices.Index(order, "finish")
		if left >= 0 && started >= 0 && (finished < 0 || left < finished) {
			want = 1
		}
		if cancelled != want {
			t.Errorf("%v: cancelled %d times", order, cancelled)
		}
	}
}

func TestAServiceThatStopsTakesNobodyWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, workers, closing := newBook(pending), newCrew(1), make(chan struct{})
		workers.begin = make(chan struct{})
		handler := served(t, b, func(cfg *Config, _ *web.Config) { cfg.Worker, cfg.Closing = workers, closing })
		over := make(chan *httptest.ResponseRecorder)
		go func() { over <- post(t.Context(), handler, "/api/chat", hello) }()
		synctest.Wait()
		close(closing)
		wantRefusal(t, <-over, 503, "CHAT_UNAVAILABLE")
		close(workers.begin)
		synctest.Wait()
		if runs, _ := b.stored(); len(runs) > 0 {
			t.Errorf("%v", runs)
		}
	})
}

func TestAServiceThatStopsEndsAStreamWithItsRun(t *testing.T) {
	closing := make(chan struct{})
	b := newBook(func(ctx context.Context, b *book, r run.Run) {
		pending(ctx, b, r)
		b.add(r, run.Event{Kind: run.Errored, Metadata: []byte(`{"code":"interrupted"}`)})
		close(closing)
	})
	handler := served(t, b, func(cfg *Config, _ *web.Config) { cfg.Closing = closing })
	got := post(t.Context(), handler, "/api/chat", hello).Body.String()
	if !strings.HasSuffix(got, failureFrame(internalFailure)+frame("done", `{"outcome":"FAILED"}`)) {
		t.Error(got)
	}
	wantCancelled(t, b)
}

// No other node can go on with this stream: its frames have no ids.
func TestAServiceThatStopsFailsAStreamWhoseRunIsNotOver(t *testing.T) {
	for path, end := range map[string]string{
		"/api/chat":   failureFrame(internalFailure) + frame("done", `{"outcome":"FAILED"}`),
		"/api/ai_ops": frame("message", `{"type":"done","data":null}`),
	} {
		synctest.Test(t, func(t *testing.T) {
			closing := make(chan struct{})
			b := newBook(func(ctx context.Context, b *book, r run.Run) {
				pending(ctx, b, r)
				synctest.Wait()
				close(closing)
			})
			handler := served(t, b, func(cfg *Config, _ *web.Config) { cfg.Closing = closing })
			body := map[string]string{"/api/chat": hello}[path]
			got := post(t.Context(), handler, path, body).Body.String()
			if !strings.HasSuffix(got, end) {
				t.Errorf("%s: %s", path, got)
			}
			wantCancelled(t, b, "STREAM_FAILED")
		})
	}
}

func TestAClientWhoseTimeIsUpBeforeAWorkerIsFreeHearsThatNoneWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, workers := newBook(pending), newCrew(1)
		workers.begin = make(chan struct{})
		handler := served(t, b, func(cfg *Config, _ *web.Config) { cfg.Worker = workers })
		wantRefusal(t, post(t.Context(), handler, "/api/chat", hello), 503, "CHAT_UNAVAILABLE")
		close(workers.begin)
		synctest.Wait()
		if runs, _ := b.stored(); len(runs) > 0 {
			t.Errorf("%v", runs)
		}
	})
}
