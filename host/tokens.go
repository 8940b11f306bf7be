package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/fastreact/fastreact/host/internal/passport"
	"github.com/fastreact/fastreact/host/internal/web"
)

// leastSecret is the length in bytes that RFC 7518 asks of a secret for HS256.
const leastSecret = 32

// tokenReader gives passport's reading of tokens to the door, in the door's words. Other modes have none.
func tokenReader(auth AuthConfig, log *slog.Logger) (web.TokenReader, error) {
	if auth.Mode != AuthJWT {
		return nil, nil
	}
	verifier, err := newVerifier(auth.JWT, log)
	if err != nil {
		return nil, err
	}
	if secret := auth.JWT.Secret.Reveal(); secret != "" && len(secret) < leastSecret {
		log.Warn("the secret of the tokens is so short that it can be guessed; use a long random one",
			slog.Int("least_bytes", leastSecret))
	}
	return func(ctx context.Context, token string) (web.Claims, error) {
		holder, err := verifier.Verify(ctx, token)
		if errors.Is(err, passport.ErrNoKeys) {
			log.Warn("no keys to check tokens with", slog.Any("error", err))
			return web.Claims{}, &web.Refusal{
				Status: http.StatusServiceUnavailable, Code: "auth_unavailable",
				Sentence: "Tokens cannot be checked at the moment.", RetryAfter: max(auth.JWT.JWKSCooldown, time.Second),
			}
		}
		return web.Claims(holder), err
	}, nil
}

func newVerifier(jwt JWTConfig, log *slog.Logger) (*passport.Verifier, error) {
	verifier, err := passport.New(passport.Config{
		Issuer: jwt.Issuer, Audience: jwt.Audience, Secret: []byte(jwt.Secret.Reveal()),
		File: jwt.JWKSFile, URL: jwt.JWKSURL, RolesClaim: jwt.RolesClaim, Leeway: jwt.Leeway,
		Refresh: jwt.JWKSRefresh, Cooldown: jwt.JWKSCooldown, Timeout: jwt.JWKSTimeout, MaxBytes: jwt.JWKSMaxBytes,
		Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("set up auth.jwt: %w", err)
	}
	return verifier, nil
}
