package egress

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// Secret is a value that a guest may name and never sees.
type Secret struct {
	Name  string
	Value string
	Hosts []string // where it may go: "api.example", or "api.example:8443" for one port alone
}

// Vault holds the secrets of one plugin. The zero value holds none. It never changes.
type Vault struct {
	secrets []Secret
	scanner Scanner
}

// reference is a secret's name as a guest writes it, also where it went through an escaping of URLs.
var reference = regexp.MustCompile(`(?i:secret(?::|%3A)(?://|%2F%2F))([A-Za-z0-9_-]*)`)

// NewVault returns a vault. What is scanned for is more than what may be named: also the values in withheld, the
// service's own secrets, must come neither from a guest nor to one.
func NewVault(secrets []Secret, withheld []string) Vault {
	values := slices.Clone(withheld)
	for _, secret := range secrets {
		values = append(values, secret.Value)
	}
	return Vault{secrets: secrets, scanner: NewScanner(values)}
}

// namesSecret reports whether text names a secret.
func namesSecret(text string) bool { return reference.MatchString(text) }

// expand puts values in place of their names, written as the place wants them, if all may go to a target.
func (v Vault) expand(text string, at target, write func(string) string) (string, error) {
	if !namesSecret(text) {
		return text, nil
	}
	var failed error
	expanded := reference.ReplaceAllStringFunc(text, func(found string) string {
		name := reference.FindStringSubmatch(found)[1]
		for _, secret := range v.secrets {
			if secret.Name == name && slices.ContainsFunc(secret.Hosts, at.isHost) {
				return write(secret.Value)
			}
		}
		failed = refuse(SecretNotGranted, "The secret %.64q is not granted, or not bound to %s.", name, at.host)
		return ""
	})
	return expanded, failed
}

// isHost reports whether a host of a secret's binding is the target's.
func (t target) isHost(binding string) bool {
	host, port, err := sdk.SplitHost(binding)
	return err == nil && host == t.host && (port == 0 || port == t.port)
}

// shows reports whether any of the texts holds a value.
func (v Vault) shows(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return v.scanner.Finds([]byte(text)) })
}

// Redact returns text without the values that the vault looks for.
func (v Vault) Redact(text string) string { return v.scanner.Redact(text) }

// plainly writes a value as it is.
func plainly(value string) string { return strings.Clone(value) }
