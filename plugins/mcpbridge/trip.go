package mcpbridge

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
)

// exchange is what one HTTP exchange showed: its status, and whether it belonged to a session.
type exchange struct {
	request string // its id, as JSON
	status  atomic.Int32
	session atomic.Bool
}

type exchangeKey struct{}

// refusedSession reports whether the server said that it does not know the session, which some do with status 400
// and an error that names the session.
func (e *exchange) refusedSession(response *transport.JSONRPCResponse) bool {
	return e.session.Load() && e.status.Load() == http.StatusBadRequest && response.Error != nil &&
		strings.Contains(strings.ToLower(response.Error.Message), "session")
}

// guardedTrip puts the configured headers on every request and bounds every answer.
type guardedTrip struct {
	next    http.RoundTripper
	headers Secrets
	limit   int64
}

// RoundTrip sends one request.
func (t *guardedTrip) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	for name, value := range t.headers {
		request.Header.Set(name, value)
	}
	if request.Method == http.MethodDelete { // the goodbye to a session; nobody waits long for it
		ctx, cancel := context.WithTimeout(request.Context(), politeWait)
		defer cancel()
		request = request.WithContext(ctx)
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	var answer string
	if seen, ok := request.Context().Value(exchangeKey{}).(*exchange); ok {
		answer = seen.request
		seen.status.Store(int32(response.StatusCode))
		seen.session.Store(request.Header.Get(transport.HeaderKeySessionID) != "")
	}
	if isEventStream(response) {
		response.Body = newEventBody(response.Body, int(t.limit), answer)
	} else {
		response.Body = &boundedBody{body: response.Body, limit: t.limit}
	}
	return response, nil
}

func isEventStream(response *http.Response) bool {
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return err == nil && media == "text/event-stream"
}

// boundedBody fails once more than limit bytes were read.
type boundedBody struct {
	body  io.ReadCloser
	limit int64
	read  int64
}

// Read reads from the body.
func (b *boundedBody) Read(buffer []byte) (int, error) {
	n, err := b.body.Read(buffer)
	if b.read += int64(n); b.read > b.limit {
		return 0, errTooLarge
	}
	return n, err
}

// Close closes the body.
func (b *boundedBody) Close() error { return b.body.Close() }
