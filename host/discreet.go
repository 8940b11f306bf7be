package host

import (
	"io"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
)

// discreet writes records without secrets.
type discreet struct {
	to      io.Writer
	scanner egress.Scanner
}

// Discreet returns a writer for logs that takes the configured secrets out of each record, as they are and in the forms
// that programs give them. A record must come in one piece, as slog's do.
func Discreet(cfg Config, to io.Writer) io.Writer {
	return discreet{to, egress.NewScanner(append(secretsOf(cfg), cfg.Auth.ServiceToken.Reveal()))}
}

// Write writes one record. It reports the record's own length.
func (d discreet) Write(record []byte) (int, error) {
	if _, err := io.WriteString(d.to, d.scanner.Redact(string(record))); err != nil {
		return 0, err
	}
	return len(record), nil
}
