package relational

import (
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// answered remembers under which key a request of a tenant was answered, and reports whether it was before. ErrKeyed
// when it was another request. A request without a key was never answered.
func (t *Tx) answered(tenant run.TenantKey, key run.Idempotency) (before bool, err error) {
	if key.Key == "" {
		return false, nil
	}
	added, err := t.Exec(
		`INSERT INTO answers (tenant, key, digest, at) VALUES (?, ?, ?, ?) ON CONFLICT (tenant, key) DO NOTHING`,
		string(tenant), key.Key, key.Digest, micros(t.now),
	)
	if err != nil || added > 0 {
		return false, err
	}
	var digest string
	rows, err := t.Query(`SELECT digest FROM answers WHERE tenant = ? AND key = ?`, string(tenant), key.Key)
	if err := fill(rows, err, &digest); err != nil {
		return false, err
	}
	if digest != key.Digest {
		return false, keyReused(t.op)
	}
	return true, nil
}

func keyReused(op string) error {
	return &run.Error{
		Code: run.CodeKeyReused, Sentence: "This idempotency key was used for another request.", Op: op,
		Cause: ledger.ErrKeyed,
	}
}
