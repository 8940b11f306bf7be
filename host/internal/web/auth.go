package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// TokenHeader carries the service token, as an alternative to Authorization: Bearer.
const TokenHeader = "X-FastReAct-Service-Token"

// Caller is who stands behind an exchange.
type Caller struct {
	Provider   string // how the caller proved itself: service_token or none
	Credential string // digest of the credential; empty when there is none
}

// authenticator compares tokens. Only digests are kept and compared, so that no comparison tells a length.
type authenticator struct {
	required bool
	digest   [sha256.Size]byte
}

func newAuthenticator(token string) authenticator {
	return authenticator{required: token != "", digest: sha256.Sum256([]byte(token))}
}

// authenticate returns the caller. Where a token is required, each one that is given must be the right one.
func (a authenticator) authenticate(r *http.Request) (Caller, *Refusal) {
	if !a.required {
		return Caller{Provider: string(AuthNone)}, nil
	}
	tokens := givenTokens(r.Header)
	if len(tokens) == 0 {
		return Caller{}, unauthorized("A service token is required.")
	}
	right := 1
	for _, token := range tokens {
		digest := sha256.Sum256([]byte(token))
		right &= subtle.ConstantTimeCompare(digest[:], a.digest[:])
	}
	if right != 1 {
		return Caller{}, unauthorized("The service token is wrong.")
	}
	return Caller{Provider: string(AuthServiceToken), Credential: hex.EncodeToString(a.digest[:8])}, nil
}

func givenTokens(header http.Header) []string {
	tokens := header.Values(TokenHeader)
	for _, value := range header.Values("Authorization") {
		scheme, token, _ := strings.Cut(value, " ")
		if strings.EqualFold(scheme, "Bearer") {
			tokens = append(tokens[:len(tokens):len(tokens)], strings.TrimSpace(token))
		}
	}
	return tokens
}

func unauthorized(sentence string) *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Code: "unauthorized", Sentence: sentence}
}
