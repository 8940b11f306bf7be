package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// Failure is a failed transport or server. Its text is one safe sentence: no secret, no word of a vendor. Cause is
// for logs only.
type Failure struct {
	Server   string
	Sentence string
	// MayHaveRun reports that the call left for the server and that nobody knows whether it ran.
	MayHaveRun bool
	Cause      error
}

// Error returns the safe sentence.
func (f *Failure) Error() string { return f.Sentence }

// SafeSentence returns the sentence, for whoever shows it to a model or a client, and says when the outcome is unknown:
// who reads it must not simply try again.
func (f *Failure) SafeSentence() string {
	if f.MayHaveRun {
		return f.Sentence + " The outcome of the call is unknown: it may have taken effect. It was not sent again."
	}
	return f.Sentence
}

// OutcomeUnknown reports that the call may have taken effect.
func (f *Failure) OutcomeUnknown() bool { return f.MayHaveRun }

// Unwrap returns the private cause.
func (f *Failure) Unwrap() error { return f.Cause }

// What goes wrong with a server. Each has its sentence in sentence.
var (
	errClosed      = errors.New("client closed")
	errExited      = errors.New("server process ended")
	errNotStarted  = errors.New("server process did not start")
	errWaiting     = errors.New("server failed before and is not tried again yet")
	errTooLarge    = errors.New("message larger than the limit")
	errUnreadable  = errors.New("message cannot be read")
	errTimeout     = errors.New("no answer in time")
	errTooMany     = errors.New("too many clients of one server")
	errNeedsInput  = errors.New("server asks for interactive input")
	errRefused     = errors.New("server refused the credentials")
	errUnreachable = errors.New("server cannot be reached")
	errSilent      = errors.New("server no longer answers")
	errStatus      = errors.New("server answered with HTTP status")
	errHandshake   = errors.New("handshake failed")
	errForgotten   = errors.New("server does not know this session")
)

// rpcError is an error a server answered. Message is the vendor's text and stays private.
type rpcError struct {
	code    int
	message string
}

func (e *rpcError) Error() string { return fmt.Sprintf("JSON-RPC error %d: %s", e.code, e.message) }

// failure gives err its safe sentence. A cancelled caller keeps its cause.
func (s Server) failure(err error, mayHaveRun bool) *Failure {
	var known *Failure
	if errors.As(err, &known) {
		return known
	}
	return &Failure{Server: s.Name, Sentence: s.sentence(err), MayHaveRun: mayHaveRun, Cause: err}
}

func (s Server) sentence(err error) string {
	subject := "MCP server " + s.Name
	var rpc *rpcError
	if errors.As(err, &rpc) {
		return subject + rpcSentence(rpc.code)
	}
	if text, refused := wayRefused(err); refused {
		return subject + " is not reached: " + text
	}
	endings := []struct {
		cause error
		text  string
	}{
		{errWaiting, " is not available; it is tried again shortly."},
		{errNotStarted, " could not be started."},
		{errExited, " ended before it answered."},
		{errForgotten, " lost its session."},
		{transport.ErrSessionTerminated, " lost its session."},
		{errTooLarge, " sent more than is accepted."},
		{errUnreadable, " sent an answer that cannot be read."},
		{errTooMany, " has too many clients at the moment."},
		{errNeedsInput, " asks for interactive input, which is not supported."},
		{errRefused, " refused the credentials."},
		{transport.ErrAuthorizationRequired, " refused the credentials."},
		{errUnreachable, " cannot be reached."},
		{errStatus, " answered with an HTTP error."},
		{errSilent, " no longer answers."},
		{errTimeout, fmt.Sprintf(" did not answer within %s.", s.Timeout.Round(time.Millisecond))},
		{errClosed, " is being shut down."},
		{errHandshake, " does not speak a known version of the protocol."},
		{context.Canceled, " was not waited for: the call was cancelled."},
		{context.DeadlineExceeded, " did not answer in time."},
	}
	for _, ending := range endings {
		if errors.Is(err, ending.cause) {
			return subject + ending.text
		}
	}
	return subject + " failed."
}

// wayRefused returns what the transport says about a request that a rule forbids, or an answer.
func wayRefused(err error) (sentence string, refused bool) {
	var told interface {
		Refused() bool
		SafeSentence() string
	}
	if errors.As(err, &told) && told.Refused() {
		return told.SafeSentence(), true
	}
	return "", false
}

func rpcSentence(code int) string {
	switch code {
	case mcp.METHOD_NOT_FOUND:
		return " does not know this request."
	case mcp.INVALID_PARAMS:
		return " refused the arguments or does not know the tool."
	case mcp.INVALID_REQUEST, mcp.PARSE_ERROR:
		return " refused the request."
	}
	return fmt.Sprintf(" answered with error code %d.", code)
}
