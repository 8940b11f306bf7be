package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
	"github.com/fastreact/fastreact/host/internal/run"
)

const (
	longest = 7500 // bytes of one notification; PostgreSQL takes 7999
	most    = 5000 // runs that wait to be told of; of more it is said that anything may have changed
)

// crier tells other processes what this one changed, after the commit and on its own time: inside the transaction it
// would have all writers wait for one another. What gathers while it speaks, it says together.
type crier struct {
	pool  *pgxpool.Pool
	self  string
	log   *slog.Logger
	wake  chan struct{}
	ended chan struct{}

	mu      sync.Mutex
	closed  bool
	changed map[run.Ref]struct{}
	rest    words // what it says beside them
}

// words is what a notification says.
type words struct {
	By   string      `json:"by"`
	Runs [][2]string `json:"runs,omitempty"` // tenant and id
	Work bool        `json:"work,omitempty"`
	Mail bool        `json:"mail,omitempty"`
	All  bool        `json:"all,omitempty"` // anything may have changed
}

func newCrier(pool *pgxpool.Pool, log *slog.Logger) *crier {
	return &crier{
		pool: pool, self: rand.Text(), log: log,
		wake: make(chan struct{}, 1), ended: make(chan struct{}), changed: map[run.Ref]struct{}{},
	}
}

// tell has the news told soon.
func (c *crier) tell(news relational.News) {
	if len(news.Changed) == 0 && !news.Work && !news.Mail {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	for _, ref := range news.Changed {
		if c.changed[ref] = struct{}{}; len(c.changed) > most {
			c.rest.All = true
			clear(c.changed)
		}
	}
	c.rest.Work, c.rest.Mail = c.rest.Work || news.Work, c.rest.Mail || news.Mail
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// loop tells until close is called.
func (c *crier) loop() {
	defer close(c.ended)
	for range c.wake {
		if payloads := c.take(); len(payloads) > 0 {
			if err := c.say(payloads); err != nil { // who would hear it has lost the server too, and looks for itself
				c.log.Debug("cannot tell other processes", slog.Any("error", err))
			}
		}
	}
}

// take returns what is to be said, in pieces that a notification holds.
func (c *crier) take() []string {
	c.mu.Lock()
	changed, said := c.changed, c.rest
	c.changed, c.rest = map[run.Ref]struct{}{}, words{}
	c.mu.Unlock()
	said.By = c.self
	var payloads []string
	size := 0
	for ref := range changed {
		entry := [2]string{string(ref.Tenant), ref.ID}
		length := len(encode(entry)) + 1
		switch {
		case length > longest/2:
			said.All = true
			continue
		case size+length > longest-200:
			payloads = append(payloads, encode(said))
			said, size = words{By: c.self}, 0
		}
		said.Runs, size = append(said.Runs, entry), size+length
	}
	if said.All || said.Work || said.Mail || len(said.Runs) > 0 {
		payloads = append(payloads, encode(said))
	}
	return payloads
}

// say sends notifications in a transaction that waits for no disk: nothing of it is kept.
func (c *crier) say(payloads []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue(`BEGIN`)
	batch.Queue(`SET LOCAL synchronous_commit TO OFF`)
	for _, payload := range payloads {
		batch.Queue(`SELECT pg_notify('`+channel+`', $1)`, payload)
	}
	batch.Queue(`COMMIT`)
	return c.pool.SendBatch(ctx, batch).Close()
}

// close says what is left and waits for it. Whatever is told afterwards is not said.
func (c *crier) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	close(c.wake)
	<-c.ended
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts and flags
	}
	return string(text)
}

func decode(payload string) (said words, err error) {
	err = json.Unmarshal([]byte(payload), &said)
	return said, err
}

func (w words) news() relational.News {
	news := relational.News{Work: w.Work, Mail: w.Mail}
	for _, one := range w.Runs {
		news.Changed = append(news.Changed, run.Ref{Tenant: run.TenantKey(one[0]), ID: one[1]})
	}
	return news
}
