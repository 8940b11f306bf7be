package run

import (
	"errors"
	"fmt"
)

// Code is the stable, public name of a failure.
type Code string

// The failures every face can translate.
const (
	CodeNotFound         Code = "not_found"
	CodeConflict         Code = "conflict"
	CodeRunExists        Code = "run_exists"
	CodeKeyReused        Code = "idempotency_key_reused"
	CodeSessionBusy      Code = "session_busy"
	CodeContextTooLarge  Code = "context_too_large"
	CodeInvalid          Code = "invalid_request"
	CodeSaturated        Code = "saturated"
	CodeNotReady         Code = "not_ready"
	CodeInterrupted      Code = "interrupted"
	CodeCancelled        Code = "cancelled"
	CodeTimeout          Code = "run_timeout"
	CodeModelUnavailable Code = "model_unavailable"
	CodeModelSaturated   Code = "model_saturated"
	CodeModelTimeout     Code = "model_timeout"
	CodeModelProtocol    Code = "model_protocol"
	CodeModelRefused     Code = "model_credentials" // the vendor refused the operator's key
	CodeRouting          Code = "routing_failed"    // nobody could tell what kind of question it is
	CodeToolSaturated    Code = "tool_saturated"    // no place to run a tool came free
	CodeBudget           Code = "budget_exhausted"  // the run used up its steps or calls before it had an answer
	CodeStore            Code = "store_unavailable"
	CodeApprovalSettled  Code = "approval_settled"
	CodeApprovalStale    Code = "approval_stale"
	CodePolicyDenied     Code = "policy_denied"
	CodeCrashLoop        Code = "crash_loop"       // whoever drove the run ended before it came further, again and again
	CodeOutcomeUnknown   Code = "outcome_unknown"  // nobody could or would say whether a call took effect
	CodeCompacted        Code = "events_compacted" // the events asked for were removed
	CodeChoice           Code = "choice_required"  // an answer must say what to do about an unknown outcome
	CodeInternal         Code = "internal_error"
)

// Codes lists every code; faces prove against it that they translate each one.
func Codes() []Code {
	return []Code{
		CodeNotFound, CodeConflict, CodeRunExists, CodeKeyReused, CodeInvalid, CodeSaturated, CodeNotReady,
		CodeInterrupted, CodeCancelled, CodeTimeout, CodeModelUnavailable, CodeModelSaturated, CodeModelTimeout,
		CodeModelProtocol, CodeModelRefused, CodeStore, CodeApprovalSettled, CodeApprovalStale, CodePolicyDenied,
		CodeInternal, CodeSessionBusy, CodeContextTooLarge, CodeRouting, CodeToolSaturated, CodeBudget,
		CodeCrashLoop, CodeOutcomeUnknown, CodeCompacted, CodeChoice,
	}
}

// Error has a public face, Code and Sentence, safe to show to anyone, and a private one, Op and Cause, for the log.
type Error struct {
	Code     Code
	Sentence string // public
	Op       string // private: the operation that failed
	Cause    error  // private
}

// Error shows the private face.
func (e *Error) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("%s: %s: %s", e.Op, e.Code, e.Sentence)
	}
	return fmt.Sprintf("%s: %s: %v", e.Op, e.Code, e.Cause)
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Cause }

// Public returns the public face of any error. One that has none is an internal error with a neutral sentence.
func Public(err error) (Code, string) {
	var e *Error
	if errors.As(err, &e) {
		return e.Code, e.Sentence
	}
	return CodeInternal, "The service could not finish this request."
}

// IsCode reports whether err carries the code.
func IsCode(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}
