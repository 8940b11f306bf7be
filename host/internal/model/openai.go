package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/fastreact/fastreact/host/internal/run"
)

// OpenAI speaks chat completions with an OpenAI-compatible vendor, streaming inside.
type OpenAI struct {
	cfg  OpenAIConfig
	http *http.Client
}

// NewOpenAI returns a client that has not spoken to its vendor yet.
func NewOpenAI(cfg OpenAIConfig) *OpenAI {
	cfg = cfg.withDefaults()
	return &OpenAI{cfg: cfg, http: &http.Client{Transport: cfg.Transport, CheckRedirect: refuseRedirect}}
}

// Complete asks for the next message. Rate limits, server errors and broken connections are tried again, bounded,
// until the first token was heard.
func (o *OpenAI) Complete(ctx context.Context, request Request, onText func(string)) (Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.cfg.Total, errTotal)
	defer cancel()
	if request.Model == "" {
		request.Model = o.cfg.Name
	}
	for try := 0; ; try++ {
		reply, failed := o.attempt(ctx, request, onText)
		if failed == nil {
			return reply, nil
		}
		if !failed.retry || try >= o.cfg.MaxRetries || !o.pause(ctx, try, failed) {
			return Reply{}, o.ending(ctx, failed)
		}
	}
}

// ending chooses what a failed call tells: a caller that left hears its own cause.
func (o *OpenAI) ending(ctx context.Context, failed *failure) error {
	if ctx.Err() == nil {
		return newError(failed, o.cfg.APIKey)
	}
	if own := ofCause(ctx); own != nil {
		return newError(own, o.cfg.APIKey)
	}
	return fmt.Errorf("complete: %w", context.Cause(ctx))
}

// attempt sends the request once and hears the whole reply.
func (o *OpenAI) attempt(ctx context.Context, request Request, onText func(string)) (Reply, *failure) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	line := &line{http: o.http, limit: o.cfg.MaxReplyBytes, asked: request, watch: watch(o.cfg, stop)}
	defer line.watch.stop()
	settings := openai.DefaultConfig(o.cfg.APIKey)
	settings.BaseURL, settings.HTTPClient, settings.EmptyMessagesLimit = o.cfg.BaseURL, line, emptyLines
	stream, err := openai.NewClientWithConfig(settings).CreateChatCompletionStream(ctx, outgoing(request))
	if err != nil {
		return Reply{}, classify(ctx, line, err)
	}
	defer func() { _ = stream.Close() }()
	heard := &hearing{onText: onText}
	err = heard.all(stream, line.watch)
	if err != nil && !heard.finished() {
		return Reply{}, heard.broken(classify(ctx, line, err))
	}
	return heard.reply(request)
}

// classify says what an error of the library means.
func classify(ctx context.Context, line *line, err error) *failure {
	if own := ofCause(ctx); own != nil {
		return own
	}
	var vendor *openai.APIError
	var refused *openai.RequestError
	var unusable *unusableError
	switch {
	case !line.sent, errors.Is(err, errTooLong), errors.Is(err, errCut), errors.As(err, &unusable),
		errors.Is(err, openai.ErrTooManyEmptyStreamMessages):
		return &failure{code: run.CodeModelProtocol, cause: err}
	case errors.Is(err, errRedirect):
		return &failure{code: run.CodeModelUnavailable, cause: err}
	case errors.As(err, &vendor):
		failed := ofStatus(statusOf(vendor), err)
		failed.after = line.after
		return failed
	case errors.As(err, &refused):
		failed := ofStatus(refused.HTTPStatusCode, err)
		failed.after = line.after
		return failed
	}
	return &failure{code: run.CodeModelUnavailable, cause: err, retry: true}
}

// statusOf is the HTTP status of a vendor's error. One that came inside a stream may carry it as its code.
func statusOf(vendor *openai.APIError) int {
	if vendor.HTTPStatusCode != 0 {
		return vendor.HTTPStatusCode
	}
	if code, ok := vendor.Code.(int); ok {
		return code
	}
	return 0
}

// pauseBefore grows from half a second, doubled with every try and shaken by up to a half. The vendor's wish wins,
// up to half a minute.
func pauseBefore(try int, wish time.Duration) time.Duration {
	if wish > 0 {
		return min(wish, maxRetryAfter)
	}
	full := min(500*time.Millisecond<<min(try, 10), 8*time.Second)
	return full/2 + rand.N(full/2)
}

// pause waits before the next try and reports whether there may be one.
func (o *OpenAI) pause(ctx context.Context, try int, failed *failure) bool {
	wait := pauseBefore(try, failed.after)
	o.cfg.Log.Warn("model call is tried again", slog.Int("try", try+1),
		slog.String("code", string(failed.code)), slog.Duration("pause", wait))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
