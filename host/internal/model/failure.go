package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// maxCause bounds what is kept of a vendor's words for the log.
const maxCause = 2048

// The causes with which this package ends its own waits.
var (
	errFirstByte = errors.New("no first byte in time")
	errIdle      = errors.New("stream went silent")
	errTail      = errors.New("nothing followed the finish reason")
	errTotal     = errors.New("reply took too long in all")
)

// Errors of a conversation with the vendor.
var (
	errTooLong  = errors.New("reply is longer than allowed")
	errRedirect = errors.New("redirect refused")
	errCut      = errors.New("stream ended without a finish reason")
)

// failure is one failed attempt: what to tell and whether to try again.
type failure struct {
	code  run.Code
	cause error
	retry bool          // nothing was heard yet and another try may help
	after time.Duration // the vendor's wish; zero when it had none
}

// protocolError is an answer that cannot be used.
func protocolError(format string, args ...any) *failure {
	return &failure{code: run.CodeModelProtocol, cause: fmt.Errorf(format, args...)}
}

// sentenceOf is the public face of a model failure.
func sentenceOf(code run.Code) string {
	switch code {
	case run.CodeModelSaturated:
		return "The language model is busy. Try again later."
	case run.CodeModelTimeout:
		return "The language model took too long to answer."
	case run.CodeModelProtocol:
		return "The language model gave an answer that cannot be used."
	case run.CodeModelRefused:
		return "The language model does not accept this service's credentials."
	}
	return "The language model cannot be reached."
}

// newError makes the error a caller sees. The cause is kept as text without the secret.
func newError(f *failure, secret string) error {
	return &run.Error{
		Code: f.code, Sentence: sentenceOf(f.code), Op: "complete", Cause: errors.New(redact(f.cause.Error(), secret)),
	}
}

// redact removes the secret from text and bounds its length.
func redact(text, secret string) string {
	if secret != "" {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			text = strings.ReplaceAll(text, form, "[redacted]")
		}
	}
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return text
}

// ofStatus translates an HTTP status that is no success.
func ofStatus(status int, cause error) *failure {
	switch {
	case status == http.StatusTooManyRequests:
		return &failure{code: run.CodeModelSaturated, cause: cause, retry: true}
	case status >= 500, status == http.StatusRequestTimeout:
		return &failure{code: run.CodeModelUnavailable, cause: cause, retry: true}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &failure{code: run.CodeModelRefused, cause: cause}
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge,
		status == http.StatusUnprocessableEntity:
		return &failure{code: run.CodeModelProtocol, cause: cause}
	}
	return &failure{code: run.CodeModelUnavailable, cause: cause}
}

// ofCause translates the end of a context. nil means that the context has not ended or that the caller ended it.
func ofCause(ctx context.Context) *failure {
	cause := context.Cause(ctx)
	for _, own := range []error{errFirstByte, errIdle, errTail, errTotal} {
		if errors.Is(cause, own) {
			return &failure{code: run.CodeModelTimeout, cause: cause}
		}
	}
	return nil
}
