package host

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is what a secret shows of itself.
const redacted = "[redacted]"

// Secret is a text that shows itself to nobody: every format verb, JSON, YAML and slog print [redacted]. Only
// Reveal gives it out. The zero value means that no secret is set.
type Secret string

// Reveal returns the secret itself, for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

// Format prints [redacted] for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String returns [redacted].
func (s Secret) String() string { return redacted }

// GoString returns [redacted].
func (s Secret) GoString() string { return redacted }

// LogValue makes slog print [redacted].
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText makes JSON, and every other encoder that reads texts, print [redacted].
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalYAML makes YAML print [redacted].
func (s Secret) MarshalYAML() (any, error) { return redacted, nil }
