package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Headers that carry tokens, as alternatives to Authorization: Bearer.
const (
	TokenHeader = "X-FastReAct-Service-Token"
	AdminHeader = "X-FastReAct-Admin-Token"
)

// Claims is what a signed token says about its holder.
type Claims struct {
	Subject string // never empty
	Tenant  string // empty = no tenant
	Roles   []string
}

// TokenReader returns what a signed token says, or an error when it does not count. A *Refusal is answered as it is,
// any other error stays private. It may be called from many goroutines.
type TokenReader func(ctx context.Context, token string) (Claims, error)

// authenticator finds out who a caller is.
type authenticator struct {
	mode     AuthMode
	service  secret
	admin    secret
	proxies  []netip.Prefix
	read     TokenReader
	operator string // role
	guests   Guests
	log      *slog.Logger
}

// secret compares tokens. Only digests are kept and compared, so that no comparison tells a length.
type secret struct {
	set    bool
	digest [sha256.Size]byte
}

func newSecret(token string) secret { return secret{token != "", sha256.Sum256([]byte(token))} }

// among counts how many of the tokens are the secret. Every token is compared, whatever the others are.
func (s secret) among(tokens []string) int {
	right := 0
	for _, token := range tokens {
		digest := sha256.Sum256([]byte(token))
		right += subtle.ConstantTimeCompare(digest[:], s.digest[:])
	}
	if !s.set {
		return 0
	}
	return right
}

func (s secret) name() string { return hex.EncodeToString(s.digest[:8]) }

// authenticate returns the caller of a route. The service token wins in every mode.
func (a authenticator) authenticate(r *http.Request, route Route) (Caller, *Refusal) {
	if route.Admin {
		return a.administrator(r)
	}
	own, bearers := r.Header.Values(TokenHeader), bearerTokens(r.Header)
	given := slices.Concat(own, bearers)
	right := a.service.among(given)
	switch {
	case right == len(given) && right > 0, right > 0 && a.knowsUsers() && a.service.among(own) == len(own):
		return Caller{Standing: Everybody, Provider: string(AuthServiceToken), Credential: a.service.name()}, nil
	case a.knowsUsers() && len(own) == 0:
		return a.user(r, bearers, route)
	case a.service.set || a.knowsUsers():
		return Caller{}, a.refuseToken(len(given))
	}
	return Caller{Standing: Everybody, Provider: string(AuthNone)}, nil
}

// knowsUsers reports whether users come with credentials of their own.
func (a authenticator) knowsUsers() bool { return a.mode == AuthTrustedHeaders || a.mode == AuthJWT }

func (a authenticator) refuseToken(given int) *Refusal {
	if given == 0 {
		return unauthorized("A service token is required.")
	}
	return unauthorized("The service token is wrong.")
}

// user returns a caller that comes with a credential of its own, if the service takes it as a guest.
func (a authenticator) user(r *http.Request, bearers []string, route Route) (caller Caller, refusal *Refusal) {
	if a.mode == AuthTrustedHeaders {
		caller, refusal = a.fromHeaders(r)
	} else {
		caller, refusal = a.fromToken(r, bearers, route)
	}
	if refusal != nil || caller.Standing == Bare {
		return caller, refusal
	}
	if a.operator != "" && slices.Contains(caller.Roles, a.operator) {
		caller.Standing = Operator
	}
	caller.Credential = credentialOf(caller)
	return caller, a.guests.admit(caller.UserKey, caller.TenantKey)
}

// credentialOf names a user for the rate limit: a fresh token is no fresh start.
func credentialOf(caller Caller) string {
	digest := sha256.Sum256([]byte(caller.TenantKey + "\x00" + caller.UserKey))
	return hex.EncodeToString(digest[:8])
}

// fromToken reads a signed token.
func (a authenticator) fromToken(r *http.Request, tokens []string, route Route) (Caller, *Refusal) {
	switch {
	case len(tokens) == 0 && route.Bare && !a.service.set && r.Header.Get("Authorization") == "":
		return Caller{Standing: Bare, Provider: string(AuthNone)}, nil
	case len(tokens) != 1:
		return Caller{}, unauthorized("One bearer token is required.")
	}
	claims, err := a.read(r.Context(), tokens[0])
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return Caller{}, refusal
	case err != nil:
		a.log.Debug("token refused", slog.Any("error", err))
		return Caller{}, unauthorized("The token is not valid.")
	}
	caller := Caller{
		Standing: User, Provider: string(AuthJWT), UserKey: userKeyOf(claims.Subject), TenantKey: claims.Tenant,
		Roles: claims.Roles,
	}
	if !validKey(caller.UserKey) || caller.TenantKey != "" && !validKey(caller.TenantKey) {
		return Caller{}, unauthorized("The token names no valid user or tenant.")
	}
	return caller, caller.agreesWithHeaders(r.Header)
}

// userKeyOf is sub where it holds a colon, else sub marked as a single sign-on's.
func userKeyOf(subject string) string {
	if strings.Contains(subject, ":") {
		return subject
	}
	return "sso:" + subject
}

// administrator admits the administration token and nothing else.
func (a authenticator) administrator(r *http.Request) (Caller, *Refusal) {
	if !a.admin.set {
		return Caller{}, &Refusal{
			Status: http.StatusForbidden, Code: "admin_disabled",
			Sentence: "Administration is switched off: no administration token is configured.",
		}
	}
	given := slices.Concat(r.Header.Values(AdminHeader), bearerTokens(r.Header))
	right := a.admin.among(given)
	switch {
	case len(given) == 0:
		return Caller{}, unauthorized("An administration token is required.")
	case right != len(given):
		return Caller{}, unauthorized("The administration token is wrong.")
	}
	return Caller{Standing: Administrator, Provider: "admin_token", Credential: a.admin.name()}, nil
}

func bearerTokens(header http.Header) (tokens []string) {
	for _, value := range header.Values("Authorization") {
		scheme, token, _ := strings.Cut(value, " ")
		if strings.EqualFold(scheme, "Bearer") {
			tokens = append(tokens, strings.TrimSpace(token))
		}
	}
	return tokens
}

func unauthorized(sentence string) *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Code: "unauthorized", Sentence: sentence}
}
