package relational

import (
	"context"
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

const selectResearch = `SELECT sequence, workspace, kind, at, key, digest, body FROM research`

// A workspace's present research begins with its newest plan.
const readResearch = selectResearch + `
	WHERE workspace = ?1 AND sequence >= (SELECT MAX(sequence) FROM research WHERE workspace = ?1 AND kind = 'plan')
	ORDER BY sequence`

const readResearchKeyed = selectResearch + ` WHERE workspace = ? AND key = ? AND key <> ''`

// Research returns the entries of a workspace from its newest plan on.
func (l *Ledger) Research(ctx context.Context, workspace string) ([]run.ResearchEntry, error) {
	var entries []run.ResearchEntry
	err := l.read(ctx, "read research", func(snapshot Session) error {
		rows, err := snapshot.Query(readResearch, workspace)
		entries, err = collect(rows, err, scanResearch)
		return err
	})
	return entries, err
}

// ResearchKeyed returns the entry that a workspace has under a key.
func (l *Ledger) ResearchKeyed(ctx context.Context, workspace, key string) (run.ResearchEntry, error) {
	const op = "read research under its key"
	var entry run.ResearchEntry
	err := l.read(ctx, op, func(snapshot Session) error {
		rows, err := snapshot.Query(readResearchKeyed, workspace, key)
		entry, err = first(rows, err, scanResearch)
		return orUnknown(err, unknownResearch(op))
	})
	return entry, err
}

// The newest entry that the writer knows and the insertion are one statement.
const insertResearch = `
	INSERT INTO research (workspace, kind, at, key, digest, body)
	SELECT ?1, ?2, ?3, ?4, ?5, ?6
	WHERE (SELECT COALESCE(MAX(sequence), 0) FROM research WHERE workspace = ?1) = ?7
	RETURNING sequence, workspace, kind, at, key, digest, body`

// AddResearch adds an entry behind the newest one that its writer knows.
func (l *Ledger) AddResearch(ctx context.Context, after int64, entry run.ResearchEntry) (run.ResearchEntry, error) {
	const op = "add research"
	switch {
	case entry.Workspace == "":
		return run.ResearchEntry{}, l.failure(op, misuse("research without a workspace"))
	case !entry.Kind.Valid():
		return run.ResearchEntry{}, l.failure(op, misuse("research of unknown kind "+string(entry.Kind)))
	case !json.Valid(entry.Body):
		return run.ResearchEntry{}, l.failure(op, misuse("research without a JSON body"))
	}
	return write(ctx, l, op, func(t *Tx) (run.ResearchEntry, error) { return t.addResearch(after, entry) })
}

func (t *Tx) addResearch(after int64, entry run.ResearchEntry) (run.ResearchEntry, error) {
	if entry.At.IsZero() {
		entry.At = t.now
	}
	if err := t.guard("research", entry.Workspace); err != nil {
		return run.ResearchEntry{}, err
	}
	rows, err := t.Query(readResearchKeyed, entry.Workspace, entry.Key)
	used, err := collect(rows, err, scanResearch)
	switch {
	case err != nil:
		return run.ResearchEntry{}, err
	case len(used) > 0:
		return run.ResearchEntry{}, researchExists("add research")
	}
	rows, err = t.Query(
		insertResearch, entry.Workspace, string(entry.Kind), micros(entry.At), entry.Key, entry.Digest,
		[]byte(entry.Body), after,
	)
	added, err := first(rows, err, scanResearch)
	return added, orUnknown(err, ledger.ErrFenced)
}

func scanResearch(rows Rows) (run.ResearchEntry, error) {
	var (
		entry run.ResearchEntry
		at    int64
		body  []byte
	)
	err := rows.Scan(&entry.Sequence, &entry.Workspace, &entry.Kind, &at, &entry.Key, &entry.Digest, &body)
	entry.At, entry.Body = fromMicros(at), body
	return entry, err
}

func researchExists(op string) error {
	return &run.Error{
		Code: run.CodeKeyReused, Sentence: "This idempotency key was used before.", Op: op, Cause: ledger.ErrExists,
	}
}

func unknownResearch(op string) error {
	return &run.Error{Code: run.CodeNotFound, Sentence: "Research not found", Op: op, Cause: ledger.ErrUnknown}
}
