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
	return t.known(tenant, key)
}

// known reports whether a request of a tenant was answered under its key. ErrKeyed when another one was.
func (t *Tx) known(tenant run.TenantKey, key run.Idempotency) (bool, error) {
	if key.Key == "" {
		return false, nil
	}
	rows, err := t.Query(`SELECT digest FROM answers WHERE tenant = ? AND key = ?`, string(tenant), key.Key)
	digests, err := collect(rows, err, func(rows Rows) (digest string, err error) {
		err = rows.Scan(&digest)
		return digest, err
	})
	if err != nil || len(digests) == 0 {
		return false, err
	}
	if digests[0] != key.Digest {
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
