package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/mark3labs/mcp-go/client/transport"
)

// httpWire speaks streamable HTTP with a server. It goes where the transport it was given lets it: bounded answers, and
// the configured headers on every request.
type httpWire struct {
	*mortality
	*transport.StreamableHTTP
	pool   http.RoundTripper
	cancel context.CancelFunc
}

// openHTTP prepares a wire. With listening it also keeps the stream open on which servers before protocol version
// 2026-07-28 send notifications.
func openHTTP(spec Server, config Config, listening bool) (*httpWire, error) {
	if config.Transport == nil {
		return nil, fmt.Errorf("%w: the bridge was given no way to HTTP servers", errUnreachable)
	}
	pool, err := config.Transport(spec.Name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	w := &httpWire{mortality: newMortality(), pool: pool}
	client := &http.Client{
		Transport:     &guardedTrip{next: w.pool, headers: spec.Headers, limit: int64(config.MaxResultBytes)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	options := []transport.StreamableHTTPCOption{
		transport.WithHTTPBasicClient(client),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)), // the library logs vendors' text
	}
	if listening {
		//lint:ignore SA1019 the servers that speak the old protocol tell news on this stream only
		options = append(options, transport.WithContinuousListening())
	}
	inner, err := transport.NewStreamableHTTP(spec.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	w.StreamableHTTP = inner
	answers := replies{spec.Elicitation}
	inner.SetRequestHandler(func(_ context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		params, err := encode(request.Params)
		return answers.to(request.ID, request.Method, params), err
	})
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	if err := inner.Start(ctx); err != nil {
		cancel()
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	return w, nil
}

// Start does nothing: the wire was started with a context that lives as long as the wire, not as long as a handshake.
func (w *httpWire) Start(context.Context) error { return nil }

// SetRequestHandler does nothing: what the server asks is answered by this package, not by the library's client.
func (w *httpWire) SetRequestHandler(transport.RequestHandler) {}

// Close ends the session at the server when it has one, and drops every connection.
func (w *httpWire) Close() error {
	w.fail(errClosed)
	w.cancel()
	_ = w.StreamableHTTP.Close() // it only reports that a server did not care
	(&http.Client{Transport: w.pool}).CloseIdleConnections()
	return nil
}

// SendRequest sends a request and names what went wrong in this package's words. A wire that lost its server or its
// session is dead: the library cannot start another session on it.
func (w *httpWire) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	id, err := encode(request.ID)
	if err != nil {
		return nil, &notSent{err}
	}
	seen := exchange{request: string(id)}
	response, err := w.StreamableHTTP.SendRequest(context.WithValue(ctx, exchangeKey{}, &seen), request)
	if err == nil && !seen.refusedSession(response) {
		if response.Result == nil && response.Error == nil || response.Error == nil && response.ID.String() != request.ID.String() {
			return nil, errUnreadable
		}
		return response, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err, lost := seen.explain(err)
	if lost {
		w.fail(err)
	}
	return nil, err
}

// explain names a failed exchange and reports whether the server or its session is lost.
func (e *exchange) explain(err error) (named error, lost bool) {
	status := int(e.status.Load())
	switch {
	case err == nil, errors.Is(err, transport.ErrSessionTerminated):
		return &notSent{errForgotten}, true
	case errors.Is(err, errTooLarge):
		return err, false
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &notSent{fmt.Errorf("%w: %w", errRefused, err)}, true
	case status == 0 && (isDialError(err) || neverSent(err)):
		return &notSent{fmt.Errorf("%w: %w", errUnreachable, err)}, true
	case status == 0:
		return fmt.Errorf("%w: %w", errUnreachable, err), true
	case status >= http.StatusMultipleChoices:
		return fmt.Errorf("%w %d: %w", errStatus, status, err), false
	}
	return fmt.Errorf("%w: %w", errUnreadable, err), false
}

// neverSent reports whether the transport says that nothing left this machine.
func neverSent(err error) bool {
	var told interface{ NotSent() bool }
	return errors.As(err, &told) && told.NotSent()
}

func isDialError(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}
