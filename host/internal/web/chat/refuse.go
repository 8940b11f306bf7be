package chat

import (
	"errors"
	"net/http"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// retryAfter is what a busy service asks its clients to wait.
const retryAfter = 2 * time.Second

// blankQuery is what is wrong with a question that has no words or no shape.
const blankQuery = "The query must not be blank."

// invalid refuses a request that is not what the contract says.
func invalid(sentence string) *web.Refusal { return web.BadRequest("CHAT_INVALID_REQUEST", sentence) }

// unavailable refuses a request for which there is no room. Nothing of it was begun.
func unavailable() *web.Refusal {
	return &web.Refusal{
		Status: http.StatusServiceUnavailable, Code: "CHAT_UNAVAILABLE",
		Sentence: "The service is busy. Try again later.", RetryAfter: retryAfter,
	}
}

func absent() *web.Refusal {
	return &web.Refusal{Status: http.StatusNotFound, Code: "CHAT_NOT_FOUND", Sentence: "There is no such run."}
}

// translate returns the public side of an error that came before the stream: in words of this face only.
func translate(err error) *web.Refusal {
	var cause *run.Error
	if !errors.As(err, &cause) {
		return nil
	}
	switch cause.Code {
	case run.CodeSaturated, run.CodeNotReady:
		return unavailable()
	case run.CodeStore:
		return &web.Refusal{
			Status: http.StatusServiceUnavailable, Code: string(storeUnavailable), Sentence: storeUnavailable.message(),
			RetryAfter: retryAfter,
		}
	case run.CodeNotFound:
		return absent()
	}
	return nil
}

// shape is the body of every answer on this face's paths that is no stream.
func shape(r *web.Refusal) any {
	switch r.Code {
	case "request_too_large":
		return refusal{"CHAT_REQUEST_TOO_LARGE", r.Sentence}
	case "internal_error":
		return refusal{string(internalFailure), r.Sentence}
	}
	return refusal{r.Code, r.Sentence}
}
