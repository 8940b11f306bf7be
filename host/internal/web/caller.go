package web

// Standing says for whom a caller may speak. The zero value is nobody.
type Standing int

// The standings.
const (
	Nobody        Standing = iota
	Bare                   // no credential, on a route that may be read without one
	User                   // for itself
	Operator               // for itself, and sees its tenant
	Everybody              // for anyone: the service token, or a service that asks nobody
	Administrator          // for the operators of the machine; no part of the protocol
)

// Caller is who stands behind an exchange.
type Caller struct {
	Standing   Standing
	Provider   string // how the caller proved itself: none, service_token, trusted_headers, jwt, ui_session, or the proxy's word for it
	Credential string // digest of the credential; empty when there is none

	// Of users and operators, who speak for themselves only.
	UserKey   string
	TenantKey string // empty = no tenant
	Roles     []string
}

// SpeaksForAnyone reports whether the caller's own word says on whose behalf it comes.
func (c Caller) SpeaksForAnyone() bool { return c.Standing == Everybody }

// IsUser reports whether the caller speaks for one user only, operator or not.
func (c Caller) IsUser() bool { return c.Standing == User || c.Standing == Operator }
