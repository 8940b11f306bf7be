package mcpbridge

import (
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Secrets maps names to values that are never printed. A map[string]string can be assigned to it.
type Secrets map[string]string

const redacted = "[redacted]"

// String prints no value.
func (s Secrets) String() string { return redacted }

// GoString prints no value.
func (s Secrets) GoString() string { return redacted }

// LogValue logs no value.
func (s Secrets) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes no value.
func (s Secrets) MarshalText() ([]byte, error) { return []byte(redacted), nil }

func (s Secrets) names() []string  { return slices.Sorted(maps.Keys(s)) }
func (s Secrets) values() []string { return slices.Sorted(maps.Values(s)) }

// shortestSecret is the length below which a value, such as "1" or "en", is too common to be masked in text.
const shortestSecret = 4

// masker returns a function that masks the server's configured secrets in text for logs.
func (s Server) masker() func(string) string {
	secrets := append(s.Env.values(), s.Headers.values()...)
	if endpoint, err := url.Parse(s.URL); err == nil {
		password, _ := endpoint.User.Password()
		secrets = append(secrets, password, endpoint.RawQuery)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			pairs = append(pairs, secret, redacted)
		}
	}
	return strings.NewReplacer(pairs...).Replace
}
