package egress

import (
	"context"
	"errors"
	"fmt"
)

// Code names why a request was not made, or its answer not given. Codes never change their meaning.
type Code string

// The codes of every refusal.
const (
	BadRequest       Code = "egress_bad_request"        // the request is none, or holds what a guest may not set
	BadURL           Code = "egress_bad_url"            // the URL is none, or is written so that readers could differ about it
	NotGranted       Code = "egress_not_granted"        // no grant names scheme, host, port and method
	PrivateAddress   Code = "egress_private_address"    // the host has an address that is not public and was not named
	OwnListener      Code = "egress_own_listener"       // it leads back to this service
	RedirectRefused  Code = "egress_redirect_refused"   // it leads where the grants do not, to plain HTTP, or on and on
	TooLarge         Code = "egress_too_large"          // more bytes than one call may move
	TooMany          Code = "egress_too_many_requests"  // more requests than one call may make
	Timeout          Code = "egress_timeout"            // no whole answer in time
	Unreachable      Code = "egress_unreachable"        // no such name, no connection, a broken exchange
	BadResponse      Code = "egress_bad_response"       // an answer that cannot be read
	SecretNotGranted Code = "egress_secret_not_granted" // the secret is unknown, not granted, or not bound to this host
	SecretInRequest  Code = "egress_secret_in_request"  // the guest holds a secret's value itself
	SecretInResponse Code = "egress_secret_in_response" // the answer shows a secret
)

// Codes lists every code.
func Codes() []Code {
	return []Code{
		BadRequest, BadURL, NotGranted, PrivateAddress, OwnListener, RedirectRefused, TooLarge, TooMany, Timeout,
		Unreachable, BadResponse, SecretNotGranted, SecretInRequest, SecretInResponse,
	}
}

// Refusal is the error of every method here. Sentence may be shown to anybody; Err is for the log, and holds no secret.
type Refusal struct {
	Code     Code
	Sentence string
	Err      error // may be nil
}

// Error shows code, sentence and cause.
func (r *Refusal) Error() string {
	if r.Err == nil {
		return fmt.Sprintf("%s: %s", r.Code, r.Sentence)
	}
	return fmt.Sprintf("%s: %s (%v)", r.Code, r.Sentence, r.Err)
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// SafeSentence returns words that hold nothing secret.
func (r *Refusal) SafeSentence() string { return r.Sentence }

// Refused reports whether a rule is the reason, and not the network.
func (r *Refusal) Refused() bool { return r.Code != Timeout && r.Code != Unreachable }

// NotSent reports whether nothing left this machine because of it. Of a redirect it says nothing.
func (r *Refusal) NotSent() bool {
	switch r.Code {
	case BadRequest, BadURL, NotGranted, PrivateAddress, OwnListener, SecretNotGranted, SecretInRequest:
		return true
	}
	return false
}

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Sentence: fmt.Sprintf(format, args...)}
}

// asRefusal turns any error of an exchange into a *Refusal. What the network said stays private.
func asRefusal(ctx context.Context, err error) *Refusal {
	var known *Refusal
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return &Refusal{Timeout, "There was no whole answer in time.", errors.Join(context.Cause(ctx), err)}
	case isTimeout(err):
		return &Refusal{Timeout, "There was no whole answer in time.", err}
	case headerTooLong(err):
		return &Refusal{TooLarge, "The header of the answer is too long.", err}
	}
	return &Refusal{Unreachable, "The host could not be reached, or broke off.", err}
}

func isTimeout(err error) bool {
	var timed interface{ Timeout() bool }
	return errors.As(err, &timed) && timed.Timeout()
}
