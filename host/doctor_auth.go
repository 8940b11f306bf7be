package host

import (
	"context"
	"fmt"
	"log/slog"
)

// examineAuth says who may call the service, and reads the keys that tokens are checked with.
func examineAuth(ctx context.Context, auth AuthConfig) Finding {
	found := Finding{Part: "auth", Health: Works, Says: "mode " + string(auth.Mode)}
	switch {
	case auth.open():
		found.Health, found.Says = Degrade, "whoever reaches the service may use it, and speak for anyone"
		found.Do = "set FASTREACT_SERVICE_TOKEN, unless nobody else uses this machine"
	case auth.Mode == AuthTrustedHeaders:
		found.Says += fmt.Sprintf("; identity headers are believed from %v", auth.TrustedProxies)
	case auth.Mode == AuthJWT:
		return examineTokens(ctx, auth, found)
	}
	return found
}

func examineTokens(ctx context.Context, auth AuthConfig, found Finding) Finding {
	secret := auth.JWT.Secret.Reveal()
	verifier, err := newVerifier(auth.JWT, slog.New(slog.DiscardHandler))
	if err == nil {
		err = verifier.Ready(ctx)
	}
	switch {
	case err != nil:
		found.Health, found.Says, found.Do = Broken, err.Error(), "see to auth.jwt.jwks_file or auth.jwt.jwks_url"
	case secret != "" && len(secret) < leastSecret:
		found.Health, found.Says = Degrade, "the secret of the tokens is so short that it can be guessed"
		found.Do = fmt.Sprintf("use a random one of %d bytes or more", leastSecret)
	default:
		found.Says += "; tokens of " + auth.JWT.Issuer + " for " + auth.JWT.Audience
	}
	return found
}
