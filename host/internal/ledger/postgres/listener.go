package postgres

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

// channel is where the processes that share a database tell one another.
const channel = "fastreact"

const (
	reconnect = 100 * time.Millisecond // after a connection was lost, and twice as long after each further one
	slowest   = 5 * time.Second        // that it becomes
)

// listener hears what other processes changed. What it misses while it has no connection it makes up for by telling
// everybody to look.
type listener struct {
	config  *pgx.ConnConfig
	silence time.Duration // after which it asks whether the server is still there
	self    string        // its own process tells itself
	notices *relational.Notices
	log     *slog.Logger
}

// loop listens until ctx ends, at first on conn. ready is closed when it listens for the first time, or cannot.
func (l *listener) loop(ctx context.Context, conn *pgx.Conn, ready chan<- struct{}) {
	begun := sync.OnceFunc(func() { close(ready) })
	defer begun()
	for pause := reconnect; ; pause = min(2*pause, slowest) {
		err := l.listen(ctx, conn, func() {
			pause = reconnect
			begun()
		})
		conn = nil
		if ctx.Err() != nil {
			return
		}
		begun()
		l.log.Warn("cannot hear other processes; their changes are found by looking", slog.Any("error", err))
		again := time.NewTimer(pause/2 + rand.N(pause/2))
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return
		}
	}
}

// listen hears until the connection is lost; without one it makes one.
func (l *listener) listen(ctx context.Context, conn *pgx.Conn, hears func()) (err error) {
	if conn == nil {
		if conn, err = pgx.ConnectConfig(ctx, l.config.Copy()); err != nil {
			return err
		}
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ending)
	}()
	if _, err := conn.Exec(ctx, `LISTEN `+channel); err != nil {
		return err
	}
	l.notices.TellAll() // before anybody waits who asked for nothing that happened until now
	hears()
	for {
		if err := l.hear(ctx, conn); err != nil {
			return err
		}
	}
}

// hear passes on one notice. When there is none for a while it makes sure that the server is still there.
func (l *listener) hear(ctx context.Context, conn *pgx.Conn) error {
	waiting, cancel := context.WithTimeout(ctx, l.silence)
	defer cancel()
	heard, err := conn.WaitForNotification(waiting)
	switch {
	case err == nil:
		l.pass(heard.Payload)
		return nil
	case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
		return err
	}
	asking, cancel := context.WithTimeout(ctx, min(dialTime, l.silence))
	defer cancel()
	return conn.Ping(asking)
}

// pass tells who waits in this process. What it does not understand may mean anything.
func (l *listener) pass(payload string) {
	said, err := decode(payload)
	switch {
	case err != nil, said.All && said.By != l.self:
		l.notices.TellAll()
	case said.By != l.self:
		l.notices.Publish(said.news())
	}
}
