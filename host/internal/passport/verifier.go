// Package passport says who holds a JSON Web Token. It promises that a token counts only when one key of the configured
// issuer signed it with that key's own algorithm, and that it was made for this service, names its holder and is valid
// now; whatever is in doubt is refused.
//
// Keys come from one shared secret, a file or a URL. What a holder may do is left to the door and the faces.
package passport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Errors of a token that does not count. Both arrive wrapped with the private reason.
var (
	ErrRefused = errors.New("token refused")
	ErrNoKeys  = errors.New("no keys to check tokens with") // the set was never read: nobody can tell yet
)

// maxToken is the largest token that is read, in bytes.
const maxToken = 16 << 10

// Config is what a verifier is made of. Issuer, Audience and exactly one of Secret, File and URL are required.
type Config struct {
	Issuer   string
	Audience string
	Secret   []byte // HS256
	File     string // a JSON Web Key Set with public keys
	URL      string // the same over HTTPS, or over HTTP from this machine

	RolesClaim string        // claim with the holder's roles, dots lead into objects; empty = no roles
	Leeway     time.Duration // how far clocks may differ
	Refresh    time.Duration // age after which a key set is read again; 0 = 5 min
	Cooldown   time.Duration // least time between two readings for the sake of an unknown key; 0 = 10 s
	Timeout    time.Duration // of one reading; 0 = 5 s
	MaxBytes   int64         // of a key set; 0 = 256 KiB

	Clock     func() time.Time  // nil = time.Now
	Transport http.RoundTripper // nil = the default one
	Log       *slog.Logger      // nil = silent
}

// Holder is who a token was issued to.
type Holder struct {
	Subject string // sub, never empty
	Tenant  string // tenant_key, tenant_id, tenant or org_id, the first that is there; empty = no tenant
	Roles   []string
}

// Verifier checks tokens. It may be used from many goroutines.
type Verifier struct {
	cfg  Config
	keys *keyring // nil with a shared secret
}

// New returns a verifier. A key file is read at once, a URL when the first token comes.
func New(cfg Config) (*Verifier, error) {
	sources := 0
	for _, given := range []bool{len(cfg.Secret) > 0, cfg.File != "", cfg.URL != ""} {
		if given {
			sources++
		}
	}
	if cfg.Issuer == "" || cfg.Audience == "" || sources != 1 {
		return nil, errors.New("tokens need an issuer, an audience and exactly one source of keys")
	}
	cfg = cfg.completed()
	v := &Verifier{cfg: cfg}
	if len(cfg.Secret) > 0 {
		return v, nil
	}
	v.keys = newKeyring(cfg)
	if cfg.File == "" {
		return v, nil
	}
	return v, v.keys.load(context.Background())
}

func (c Config) completed() Config {
	for duration, otherwise := range map[*time.Duration]time.Duration{
		&c.Refresh: 5 * time.Minute, &c.Cooldown: 10 * time.Second, &c.Timeout: 5 * time.Second,
	} {
		if *duration <= 0 {
			*duration = otherwise
		}
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = 256 << 10
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Ready makes sure that there are keys, and otherwise says why not.
func (v *Verifier) Ready(ctx context.Context) error {
	if v.keys == nil {
		return nil
	}
	return v.keys.load(ctx)
}

// Verify returns the holder of a token, or ErrRefused or ErrNoKeys.
func (v *Verifier) Verify(ctx context.Context, token string) (Holder, error) {
	if len(token) > maxToken {
		return Holder{}, fmt.Errorf("%w: larger than %d bytes", ErrRefused, maxToken)
	}
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(
		jwt.WithValidMethods(v.algorithms()), jwt.WithIssuer(v.cfg.Issuer), jwt.WithAudience(v.cfg.Audience),
		jwt.WithExpirationRequired(), jwt.WithLeeway(v.cfg.Leeway), jwt.WithTimeFunc(v.cfg.Clock),
		jwt.WithStrictDecoding(),
	)
	_, err := parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) { return v.key(ctx, t) })
	if errors.Is(err, ErrNoKeys) {
		return Holder{}, err
	}
	if err != nil {
		return Holder{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return holderOf(claims, v.cfg.RolesClaim)
}

func (v *Verifier) algorithms() []string {
	if v.keys == nil {
		return []string{"HS256"}
	}
	return []string{"RS256", "ES256", "EdDSA"}
}

// key returns the one key that may have signed a token: of a set, the key of that name and of that algorithm. A token
// that asks for extensions asks for something that nobody here understands.
func (v *Verifier) key(ctx context.Context, t *jwt.Token) (any, error) {
	if _, critical := t.Header["crit"]; critical {
		return nil, errors.New("the token needs extensions that are not known")
	}
	if v.keys == nil {
		return v.cfg.Secret, nil
	}
	id, named := t.Header["kid"]
	name, isText := id.(string)
	if named && !isText {
		return nil, errors.New("the key's name is no text")
	}
	return v.keys.find(ctx, name, t.Method.Alg())
}
