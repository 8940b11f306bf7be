package chat

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// The profiles that this face asks for.
const (
	chatProfile      = "chat"
	diagnosisProfile = "diagnosis"
)

// Engine starts and stops runs.
type Engine interface {
	// Chat stores a run and drives it at once. A detached one outlives the connection.
	Chat(connection context.Context, request run.Request) (run.Run, error)
	// Cancel ends a run and returns it as it then is; one that is over stays as it is.
	Cancel(ctx context.Context, ref run.Ref, reason string, key run.Idempotency) (run.Run, error)
}

// Records reads runs and their events. The ledger is one.
type Records interface {
	web.RunLog
	Runs(ctx context.Context, filter run.Filter) (run.Page[run.Run], error)
}

// Feedback keeps what readers thought of an answer. The ledger does.
type Feedback interface {
	// Feedback keeps one word for each run: the last.
	Feedback(ctx context.Context, said run.Feedback) error
}

// Worker runs work on goroutines of its own, of which there are so many and no more.
type Worker interface {
	// Do runs work, never on the caller's goroutine, and returns when it is done. It fails at once when there is no
	// room, and as soon as ctx ends: work that still waits then never begins.
	Do(ctx context.Context, work func(ctx context.Context) error) error
}

// Config is what the face is made of. Engine, Records, Feedback, Worker and the limits are required.
type Config struct {
	Engine   Engine
	Records  Records
	Feedback Feedback
	Worker   Worker

	StreamTimeout   time.Duration // of a connection, its wait for a worker included; its end is a disconnect
	RunTimeout      time.Duration // of a run; its end is a failure
	MaxRequestBytes int64
	KeepAlive       time.Duration   // silence after which a stream says that it lives; 0 = 15 s
	Poll            time.Duration   // how often to look for events that nobody announced; 0 = 1 s
	Closing         <-chan struct{} // when closed, nothing begins that waits for a worker, and what is not over fails; may be nil
	Log             *slog.Logger    // nil = silent
}

type face struct{ cfg Config }

// New returns the face, to be put behind a door.
func New(cfg Config) web.Face {
	if cfg.KeepAlive == 0 {
		cfg.KeepAlive = 15 * time.Second
	}
	if cfg.Poll == 0 {
		cfg.Poll = time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	f := &face{cfg}
	post := http.MethodPost
	return web.Face{
		Routes: []web.Route{
			{Method: post, Path: "/api/chat", Handle: f.chat, Stream: true, Page: true},
			{Method: post, Path: feedbackPath, Handle: f.feedback, Page: true},
			{Method: post, Path: "/api/ai_ops", Handle: f.aiOps, Stream: true, Page: true},
		},
		Translate: translate,
		Shape:     shape,
	}
}

// chat answers a question with its stream.
func (f *face) chat(x *web.Exchange) error {
	request, err := f.readQuestion(x)
	if err != nil {
		return err
	}
	stream := x.Stream()
	return f.attend(stream, request, &chatVoice{script: script{to: stream}})
}

// aiOps diagnoses what fires, and answers with a text.
func (f *face) aiOps(x *web.Exchange) error {
	request, err := f.readAlert(x)
	if err != nil {
		return err
	}
	stream := x.Stream()
	return f.attend(stream, request, &opsVoice{to: stream})
}
