package fastreact

import (
	"net/http"
	"regexp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// idempotencyHeader carries a key under which a client may send one request many times: "same key + same body → the
// same run; another body → 409". An answer to an approval and a cancel may carry one too.
const idempotencyHeader = "Idempotency-Key"

const idempotencyPattern = `^[!-~]{1,255}$`

// readIdempotency returns the key of a request for a run and the digest of what it asks for: the body, whatever the
// order of its keys, and the kind of run.
func readIdempotency(header http.Header, kind run.Kind, body map[string]any) (run.Idempotency, error) {
	return keyed(header, map[string]any{"kind": string(kind), "body": body})
}

// The changes that a key may stand for, beside the creation of a run.
type operation string

const (
	approving operation = "approve"
	denying   operation = "deny"
	ending    operation = "cancel"
)

// readChangeKey returns the key of a request that changes one record, and the digest of what it asks for: the change,
// the record and the body. No body is an empty one.
func readChangeKey(header http.Header, change operation, tenant run.TenantKey, id string, body map[string]any) (run.Idempotency, error) {
	if body == nil {
		body = map[string]any{}
	}
	return keyed(header, map[string]any{
		"operation": string(change), "target": map[string]any{"tenant": string(tenant), "id": id}, "body": body,
	})
}

func keyed(header http.Header, asked map[string]any) (run.Idempotency, error) {
	keys := header.Values(idempotencyHeader)
	if len(keys) == 0 {
		return run.Idempotency{}, nil
	}
	if len(keys) > 1 || !regexp.MustCompile(idempotencyPattern).MatchString(keys[0]) {
		return run.Idempotency{}, web.BadRequest(
			"invalid_idempotency_key", "Idempotency-Key must be given once: 1 to 255 visible ASCII characters.",
		)
	}
	encoded, err := run.Encode(asked)
	if err != nil {
		return run.Idempotency{}, err
	}
	return run.Idempotency{Key: keys[0], Digest: run.Digest(encoded)}, nil
}
