package agenttools

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
)

// The codes of what this face refuses itself.
const (
	hostRejected     run.Code = "host_rejected"
	launchRejected   run.Code = "launch_rejected"
	sessionRequired  run.Code = "session_required"
	mutationRejected run.Code = "mutation_rejected"
	rateLimited      run.Code = "rate_limited"
	routeUnknown     run.Code = "route_unknown"
	methodNotAllowed run.Code = "method_not_allowed"
	invalidRequest   run.Code = "invalid_request"
	bodyTooLarge     run.Code = "body_too_large"
	headersTooLarge  run.Code = "headers_too_large"
	busy             run.Code = "busy"
	closing          run.Code = "closing"
	internalError    run.Code = "internal_error"
)

// meaning is what a code is on the wire.
type meaning struct {
	status   int
	sentence string // where the error brings none
}

// internalMeaning is that of every code that no table has.
func internalMeaning() meaning {
	return meaning{http.StatusInternalServerError, "The service could not finish this request."}
}

// meanings is the one table from codes to the wire.
func meanings() map[run.Code]meaning {
	return map[run.Code]meaning{
		hostRejected:     {http.StatusForbidden, "This host is not served here."},
		launchRejected:   {http.StatusForbidden, "This launch address was used already or never existed. Open the newest one that the service printed."},
		sessionRequired:  {http.StatusUnauthorized, "There is no session. Open the newest launch address that the service printed."},
		mutationRejected: {http.StatusForbidden, "This request did not come from the page of a session that is open."},
		rateLimited:      {http.StatusTooManyRequests, "The requests come too fast. Try again in a moment."},
		routeUnknown:     {http.StatusNotFound, "There is no such route."},
		methodNotAllowed: {http.StatusMethodNotAllowed, "This route does not know that method."},
		invalidRequest:   {http.StatusBadRequest, "The request is not one complete JSON object of a declared length."},
		bodyTooLarge:     {http.StatusRequestEntityTooLarge, "The body of the request is too large."},
		headersTooLarge:  {http.StatusRequestHeaderFieldsTooLarge, "The head of the request is too large."},
		busy:             {http.StatusServiceUnavailable, "Too many requests wait. Try again later."},
		closing:          {http.StatusServiceUnavailable, "The service is shutting down."},
		internalError:    internalMeaning(),

		gateway.CodeInvalid:        {http.StatusBadRequest, "The request is not what this route takes."},
		gateway.CodeConflict:       {http.StatusConflict, "The idempotency key was used for another intention."},
		gateway.CodeCapacity:       {http.StatusTooManyRequests, "Too many calls are under way."},
		gateway.CodeResultTooLarge: {http.StatusRequestEntityTooLarge, "The result of the tool is too large."},
		gateway.CodeResultUnknown:  {http.StatusNotFound, "There is no such result in the active workspace."},
		gateway.CodeTurnUnknown:    {http.StatusNotFound, "There is no such turn in the active workspace."},
		gateway.CodeTurnNotWaiting: {http.StatusConflict, "This turn does not wait for a decision."},
		gateway.CodeTurnNotGranted: {http.StatusConflict, "No person has granted what this turn waits for, or no campaign was admitted under the grant."},
		gateway.CodeNoWorkspace:    {http.StatusConflict, "No workspace is active."},
		gateway.CodeUnknownSpace:   {http.StatusNotFound, "There is no such workspace."},
		gateway.CodeClosed:         {http.StatusServiceUnavailable, "The service is shutting down."},

		research.CodeInvalid:     {http.StatusBadRequest, "The request is not what this route takes."},
		research.CodeRefused:     {http.StatusConflict, "The rules of the plan do not allow this."},
		research.CodeLimit:       {http.StatusConflict, "The workspace has no room for more of this."},
		research.CodeConflict:    {http.StatusConflict, "The idempotency key was used for another intention."},
		research.CodeUnavailable: {http.StatusServiceUnavailable, "The graph of the workspace cannot be read."},

		localagent.CodeInvalid:    {http.StatusBadRequest, "The objective is a text of 1 to 512 characters, and the idempotency_key, if there is one, has at most 128 bytes."},
		localagent.CodeUnknown:    {http.StatusNotFound, "There is no such turn in the active workspace."},
		localagent.CodeNotWaiting: {http.StatusConflict, "This turn does not wait for a decision."},
		localagent.CodeNotGranted: {http.StatusConflict, "No person has granted what this turn waits for, or no campaign was admitted under the grant."},
		localagent.CodeQueueFull:  {http.StatusTooManyRequests, "Too many turns wait already."},
		localagent.CodeCapacity:   {http.StatusTooManyRequests, "Too many turns are unfinished."},
		localagent.CodeConflict:   {http.StatusConflict, "The idempotency key was used for another objective."},
		localagent.CodeClosed:     {http.StatusServiceUnavailable, "The service is shutting down."},

		run.CodeStore: {http.StatusServiceUnavailable, "The storage of the service is not available. Try again later."},
	}
}

// refused is the error of a code of this face.
func refused(code run.Code) error { return &run.Error{Code: code, Op: "agent tools"} }

// public returns what of an error may be seen. What no table knows is told to the log alone.
func (f *Face) public(err error) (status int, shown problem) {
	var cause *run.Error
	if errors.As(err, &cause) {
		if means, known := f.meanings[cause.Code]; known {
			sentence := cmp.Or(cause.Sentence, means.sentence)
			return means.status, problem{errorContract, cause.Code, sentence}
		}
	}
	f.cfg.Log.Error("request failed", slog.Any("error", err))
	means := internalMeaning()
	return means.status, problem{errorContract, internalError, means.sentence}
}
