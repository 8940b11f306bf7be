package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/relational"
	"github.com/fastreact/fastreact/host/internal/run"
)

func opened(t *testing.T) *Ledger {
	t.Helper()
	return openedAt(t, filepath.Join(t.TempDir(), "ledger.db"))
}

func openedAt(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := Open(context.Background(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil && !errors.Is(err, ledger.ErrClosed) {
			t.Error(err)
		}
	})
	return l
}

func owned(t *testing.T, l *Ledger, id string) run.Fence {
	t.Helper()
	r := run.Run{Ref: run.Ref{ID: id}, Kind: run.Chat, Status: run.Running, Owner: "node", Epoch: 1}
	if _, err := l.Create(context.Background(), r, ledger.Door{Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
	return r.Fence()
}

// change runs a write of the driver's own.
func change(ctx context.Context, l *Ledger, do func() error) error {
	return l.store.Write(ctx, func(relational.Session) (relational.News, error) { return relational.News{}, do() })
}

func do(l *Ledger, statement string) error {
	return l.store.Write(context.Background(), func(s relational.Session) (relational.News, error) {
		_, err := s.Exec(statement)
		return relational.News{}, err
	})
}

// execute runs a statement on the writer's connection.
func execute(t *testing.T, l *Ledger, statement string) {
	t.Helper()
	if err := do(l, statement); err != nil {
		t.Fatal(err)
	}
}

func add(l *Ledger, fence run.Fence, size int) error {
	batch := ledger.Batch{Events: []run.Event{{Kind: run.Think, Content: strings.Repeat("x", size)}}}
	_, err := l.Append(context.Background(), fence, batch)
	return err
}

// inWords demands a public error of the store.
func inWords(t *testing.T, err error, sentence string) {
	t.Helper()
	code, got := run.Public(err)
	want := []string{string(run.CodeStore), sentence}
	if diff := cmp.Diff(want, []string{string(code), got}); diff != "" {
		t.Errorf("public face of %v (-want +got):\n%s", err, diff)
	}
}

func TestFullDiskIsReportedAndForgotten(t *testing.T) {
	l := opened(t)
	fence := owned(t, l, "r")
	execute(t, l, `PRAGMA max_page_count = 60`)
	inWords(t, add(l, fence, 1<<20), "The storage of the service is full. Try again later.")
	execute(t, l, `PRAGMA max_page_count = 100000`)
	if err := add(l, fence, 1<<20); err != nil {
		t.Error(err)
	}
}

func TestWriteThatDoesNotFitFailsAlone(t *testing.T) {
	l := opened(t)
	execute(t, l, `PRAGMA max_page_count = 400`)
	var group sync.WaitGroup
	for i := range 16 {
		fence := owned(t, l, fmt.Sprint(i))
		group.Go(func() {
			for range 10 {
				if i%4 == 0 {
					inWords(t, add(l, fence, 2<<20), "The storage of the service is full. Try again later.")
				} else if err := add(l, fence, 10); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	s, err := l.Stats(context.Background(), run.Filter{})
	if err != nil || s.Events != 120 {
		t.Errorf("%d events, error %v", s.Events, err)
	}
}

func TestReadOnlyFileIsReportedAndForgotten(t *testing.T) {
	l := opened(t)
	fence := owned(t, l, "r")
	execute(t, l, `PRAGMA query_only = 1`)
	inWords(t, add(l, fence, 1), "The storage of the service cannot be written to. Try again later.")
	if err := add(l, fence, 1); err != nil {
		t.Error(err)
	}
}

func TestLostConnectionIsReplaced(t *testing.T) {
	l := opened(t)
	fence := owned(t, l, "r")
	err := l.store.Write(t.Context(), func(s relational.Session) (relational.News, error) {
		l.store.writer.drop()
		return relational.News{}, s.Later(`SELECT 1`)
	})
	if err == nil || l.store.Sentence(err) != "The storage of the service is not available. Try again later." {
		t.Errorf("error %v", err)
	}
	if err := add(l, fence, 1); err != nil {
		t.Error(err)
	}
}

// held keeps the writer busy until release is called.
func held(l *Ledger) (release func()) {
	began, end := make(chan struct{}), make(chan struct{})
	go func() {
		_ = change(context.Background(), l, func() error {
			close(began)
			<-end
			return nil
		})
	}()
	<-began
	return func() { close(end) }
}

func nothing(relational.Session) (relational.News, error) { return relational.News{}, nil }

var errLeft = errors.New("the client left")

func TestWriteThatWaitsIsTakenBackWhenItsContextEnds(t *testing.T) {
	l := opened(t)
	fence := owned(t, l, "r")
	release := held(l)
	ctx, cancel := context.WithCancelCause(context.Background())
	answer := make(chan error)
	go func() {
		_, err := l.Append(ctx, fence, ledger.Batch{Events: []run.Event{{Kind: run.Think}}})
		answer <- err
	}()
	cancel(errLeft)
	if err := <-answer; !errors.Is(err, errLeft) {
		t.Errorf("error %v", err)
	}
	release()
	if err := l.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	if r, err := l.Run(context.Background(), fence.Ref); err != nil || r.NextSeq != 0 {
		t.Errorf("%d events, error %v", r.NextSeq, err)
	}
}

func TestWriteUnderWayIsAnsweredThoughItsContextEnds(t *testing.T) {
	l := opened(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	err := change(ctx, l, func() error {
		cancel(errLeft)
		return nil
	})
	if err != nil {
		t.Errorf("error %v", err)
	}
}

func TestCallerOfADiskThatDoesNotAnswerLeavesUncertain(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := Open(context.Background(), Config{Path: filepath.Join(folder, "ledger.db")})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		end := make(chan struct{})
		start := time.Now()
		err = change(ctx, l, func() error {
			cancel(errLeft)
			<-end
			return nil
		})
		if !errors.Is(err, errUncertain) || !errors.Is(err, errLeft) || time.Since(start) != commitGrace {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		close(end)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestFullQueueLetsItsCallersLeave(t *testing.T) {
	l := opened(t)
	release := held(l)
	for range queueLength {
		l.store.writer.queue <- &order{do: nothing, answer: make(chan error, 1)}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	answer := make(chan error)
	go func() { answer <- l.Ping(ctx) }()
	cancel(errLeft)
	if err := <-answer; !errors.Is(err, errLeft) {
		t.Errorf("error %v", err)
	}
	release()
	if err := l.Ping(context.Background()); err != nil {
		t.Error(err)
	}
}
