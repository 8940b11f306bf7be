package fastreact

import (
	"net/http"
	"regexp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// idempotencyHeader carries a key under which a client may send one request many times: "same key + same body → the
// same run; another body → 409".
const idempotencyHeader = "Idempotency-Key"

const idempotencyPattern = `^[!-~]{1,255}$`

// readIdempotency returns the key of a request and the digest of what it asks for: the body, whatever the order of its
// keys, and the kind of run.
func readIdempotency(header http.Header, kind run.Kind, body map[string]any) (run.Idempotency, error) {
	keys := header.Values(idempotencyHeader)
	if len(keys) == 0 {
		return run.Idempotency{}, nil
	}
	if len(keys) > 1 || !regexp.MustCompile(idempotencyPattern).MatchString(keys[0]) {
		return run.Idempotency{}, web.BadRequest(
			"invalid_idempotency_key", "Idempotency-Key must be given once: 1 to 255 visible ASCII characters.",
		)
	}
	asked, err := run.Encode(map[string]any{"kind": string(kind), "body": body})
	if err != nil {
		return run.Idempotency{}, err
	}
	return run.Idempotency{Key: keys[0], Digest: run.Digest(asked)}, nil
}
