package relational

import (
	"context"
	"errors"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Pair returns what a plugin keeps under a key.
func (l *Ledger) Pair(ctx context.Context, drawer run.Drawer, key string) (pair run.Pair, found bool, err error) {
	pair = run.Pair{Key: key}
	err = l.read(ctx, "read plugin's value", func(snapshot Session) error {
		rows, err := snapshot.Query(
			`SELECT version, value FROM kv WHERE plugin = ? AND tenant = ? AND key = ?`,
			drawer.Plugin, string(drawer.Tenant), key,
		)
		err = fill(rows, err, &pair.Version, &pair.Value)
		found = err == nil
		if errors.Is(err, errNone) {
			return nil
		}
		return err
	})
	if err != nil || !found {
		return run.Pair{}, false, err
	}
	return pair, true, nil
}

// kept is what a drawer holds when it is about to change.
type kept struct {
	version int64 // of the key; 0: none
	size    int64 // of key and value
	used    int64 // by the whole drawer
}

// kept locks the drawer and looks into it.
func (t *Tx) kept(drawer run.Drawer, key string) (k kept, err error) {
	if err := t.guard("drawer", drawer.Plugin, string(drawer.Tenant)); err != nil {
		return k, err
	}
	rows, err := t.Query(`
		SELECT COALESCE((SELECT bytes FROM kv_used WHERE plugin = ?1 AND tenant = ?2), 0),
			COALESCE(MAX(version), 0), COALESCE(MAX(OCTET_LENGTH(key) + OCTET_LENGTH(value)), 0)
		FROM kv WHERE plugin = ?1 AND tenant = ?2 AND key = ?3`, drawer.Plugin, string(drawer.Tenant), key)
	return first(rows, err, func(rows Rows) (k kept, err error) {
		err = rows.Scan(&k.used, &k.version, &k.size)
		return k, err
	})
}

// use records how much a drawer holds.
func (t *Tx) use(drawer run.Drawer, bytes int64) error {
	return t.Later(
		`INSERT INTO kv_used VALUES (?, ?, ?) ON CONFLICT (plugin, tenant) DO UPDATE SET bytes = excluded.bytes`,
		drawer.Plugin, string(drawer.Tenant), bytes,
	)
}

const deletePair = `DELETE FROM kv WHERE version = ?`

// PutPair keeps a value, unless its drawer would hold too much or holds another version.
func (l *Ledger) PutPair(ctx context.Context, drawer run.Drawer, put run.Put) (run.PutOutcome, error) {
	return write(ctx, l, "keep plugin's value", func(t *Tx) (outcome run.PutOutcome, err error) {
		before, err := t.kept(drawer, put.Key)
		if err != nil {
			return outcome, err
		}
		size := int64(len(put.Key) + len(put.Value))
		used := before.used - before.size + size
		switch {
		case put.IfVersion != nil && *put.IfVersion != before.version:
			return run.PutOutcome{Conflict: true}, nil
		case used > put.Limit && size > before.size:
			return run.PutOutcome{Full: true}, nil
		}
		if err := t.Later(deletePair, before.version); err != nil {
			return outcome, err
		}
		rows, err := t.Query(
			`INSERT INTO kv (plugin, tenant, key, value) VALUES (?, ?, ?, ?) RETURNING version`,
			drawer.Plugin, string(drawer.Tenant), put.Key, append([]byte{}, put.Value...),
		)
		if outcome.Version, err = first(rows, err, number); err != nil {
			return outcome, err
		}
		return outcome, t.use(drawer, used)
	})
}

// DropPair forgets a value, and reports whether there was one.
func (l *Ledger) DropPair(ctx context.Context, drawer run.Drawer, key string) (found bool, err error) {
	return write(ctx, l, "forget plugin's value", func(t *Tx) (bool, error) {
		before, err := t.kept(drawer, key)
		if err != nil || before.version == 0 {
			return false, err
		}
		if err := t.Later(deletePair, before.version); err != nil {
			return false, err
		}
		return true, t.use(drawer, before.used-before.size)
	})
}
