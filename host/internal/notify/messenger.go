// Package notify tells somebody outside that a call waits for a person, and what became of it. It promises that every
// notice the outbox holds is delivered at least once under one id, is signed, and holds nothing that a screen would
// obey or that is secret; a receiver that fails is tried again until it takes the notice or there is no point any more.
//
// What is worth a notice is left to the ledger, which commits it with the approval; who may answer, to the faces.
package notify

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Outbox holds what is to be told; the ledger does.
type Outbox interface {
	Due(ctx context.Context, at time.Time, limit int) ([]run.Notice, error)
	Postpone(ctx context.Context, id string, next time.Time) error
	Forget(ctx context.Context, id string) error
	Outgoing() <-chan struct{}
	// Now returns the time by which notices are due: on another machine than this one, its clock says it.
	Now(ctx context.Context) (time.Time, error)
}

// Mask takes secrets out of text and of encoded JSON.
type Mask interface {
	Text(text string) string
	JSON(encoded []byte) []byte
}

// Config is what a messenger is made of. Outbox, URL, Secret and Mask are required; zero values mean the defaults.
type Config struct {
	Outbox      Outbox
	URL         string // of the webhook
	Secret      string // that notices are signed with
	Mask        Mask
	Timeout     time.Duration // of one try; 10 s
	MaxAttempts int           // tries of one notice; 20
	Concurrency int           // tries at once; 4
	HTTP        *http.Client
	Clock       func() time.Time
	Log         *slog.Logger
}

// Messenger delivers notices. New makes one.
type Messenger struct {
	cfg  Config
	http *http.Client
}

const (
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	nap          = time.Second // postponed notices are looked for this often
)

// New returns a messenger that sends nothing yet.
func New(cfg Config) *Messenger {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Second
	}
	if cfg.MaxAttempts <= 0 {
		cfg.MaxAttempts = 20
	}
	if cfg.Concurrency <= 0 {
		cfg.Concurrency = 4
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Messenger{cfg: cfg, http: courier(cfg)}
}

// Run delivers until ctx ends.
func (m *Messenger) Run(ctx context.Context) {
	look := time.NewTicker(nap)
	defer look.Stop()
	for ctx.Err() == nil {
		tried, err := m.round(ctx)
		if err != nil && ctx.Err() == nil {
			m.cfg.Log.Error("outbox cannot be used", slog.Any("error", err))
		}
		if tried > 0 && err == nil {
			continue // there may be more; what failed is not due now
		}
		select {
		case <-look.C:
		case <-m.cfg.Outbox.Outgoing():
		case <-ctx.Done():
		}
	}
}

// round tries what is due, some notices at once, and returns how many it tried.
func (m *Messenger) round(ctx context.Context) (tried int, err error) {
	now, err := m.cfg.Outbox.Now(ctx)
	if err != nil {
		return 0, err
	}
	due, err := m.cfg.Outbox.Due(ctx, now, m.cfg.Concurrency)
	if err != nil {
		return 0, err
	}
	problems := make([]error, len(due))
	var all sync.WaitGroup
	for i, notice := range due {
		all.Go(func() { problems[i] = m.handle(ctx, notice) })
	}
	all.Wait()
	return len(due), errors.Join(problems...)
}

// handle tries one notice and writes down what came of it. Its error is the outbox's.
func (m *Messenger) handle(ctx context.Context, notice run.Notice) error {
	log := m.cfg.Log.With(slog.String("event_id", notice.ID))
	if notice.Attempts > 0 && notice.Kind == run.ApprovalRequested && notice.Approval.Status.Settled() {
		log.Warn("notice given up, the approval is settled")
		return m.cfg.Outbox.Forget(ctx, notice.ID)
	}
	failed := m.send(ctx, messageOf(notice, m.cfg.Mask), notice.Attempts+1)
	switch {
	case failed == nil:
		return m.cfg.Outbox.Forget(ctx, notice.ID)
	case ctx.Err() != nil:
		return nil // it stays due
	case errors.Is(failed, errUnwanted), notice.Attempts+1 >= m.cfg.MaxAttempts:
		log.Error("notice given up", slog.Int("attempts", notice.Attempts+1), slog.Any("error", failed))
		return m.cfg.Outbox.Forget(ctx, notice.ID)
	}
	pause := pauseAfter(notice.Attempts)
	log.Warn("notice not delivered", slog.Int("attempts", notice.Attempts+1), slog.Duration("pause", pause), slog.Any("error", failed))
	now, err := m.cfg.Outbox.Now(ctx)
	if err != nil {
		return err
	}
	return m.cfg.Outbox.Postpone(ctx, notice.ID, now.Add(pause))
}

// pauseAfter doubles with every failed try; jitter keeps notices from coming all together.
func pauseAfter(failed int) time.Duration {
	pause := min(firstPause<<min(failed, 20), longestPause)
	return pause - time.Duration(rand.Int64N(int64(pause)/4))
}
