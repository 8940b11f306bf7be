package fastreact

import (
	"errors"
	"net/http"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// retryAfter is what a busy service asks its clients to wait.
const retryAfter = 2 * time.Second

// status returns the HTTP status of a failure; an unknown code is an internal error.
func status(code run.Code) int {
	switch code {
	case run.CodeInvalid, run.CodeChoice:
		return http.StatusUnprocessableEntity
	case run.CodeNotFound:
		return http.StatusNotFound
	case run.CodeConflict, run.CodeRunExists, run.CodeKeyReused, run.CodeCancelled, run.CodeApprovalSettled, run.CodeApprovalStale,
		run.CodePolicyDenied, run.CodeSessionBusy, run.CodeOutcomeUnknown:
		return http.StatusConflict
	case run.CodeCompacted:
		return http.StatusGone
	case run.CodeContextTooLarge:
		return http.StatusRequestEntityTooLarge
	case run.CodeModelUnavailable, run.CodeModelProtocol, run.CodeModelRefused, run.CodeRouting, run.CodeCrashLoop:
		return http.StatusBadGateway
	case run.CodeSaturated, run.CodeNotReady, run.CodeInterrupted, run.CodeModelSaturated,
		run.CodeToolSaturated, run.CodeStore:
		return http.StatusServiceUnavailable
	case run.CodeTimeout, run.CodeModelTimeout, run.CodeBudget:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// translate returns the public side of an error of those the face asks.
func translate(err error) *web.Refusal {
	var failure *run.Error
	if !errors.As(err, &failure) {
		return nil
	}
	refusal := &web.Refusal{Status: status(failure.Code), Code: string(failure.Code), Sentence: failure.Sentence}
	if refusal.Status == http.StatusServiceUnavailable {
		refusal.RetryAfter = retryAfter
	}
	return refusal
}

func notFound(sentence string) *web.Refusal {
	return &web.Refusal{Status: http.StatusNotFound, Code: string(run.CodeNotFound), Sentence: sentence}
}

// missing replaces the sentence of an unknown record with the contract's own.
func missing(err error, sentence string) error {
	if run.IsCode(err, run.CodeNotFound) {
		return notFound(sentence)
	}
	return err
}
