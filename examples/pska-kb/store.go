package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	_ "modernc.org/sqlite" // the database driver
)

// store keeps the notes and their full-text index. Every read is bounded to what one user may see.
type store struct{ db *sql.DB }

const tables = `
CREATE TABLE IF NOT EXISTS notes (
	id TEXT PRIMARY KEY, knowledge_base TEXT NOT NULL, title TEXT NOT NULL, owner TEXT NOT NULL,
	tags TEXT NOT NULL, body TEXT NOT NULL, pending INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS readers (id TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY (id, user));
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (id UNINDEXED, title, body);`

// openStore opens the index in a file, or in memory when path is empty, and puts the notes into it.
func openStore(ctx context.Context, path string, notes []note) (*store, error) {
	if path == "" {
		path = ":memory:"
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	db.SetMaxOpenConns(1) // memory belongs to one connection
	s := &store{db}
	if _, err := db.ExecContext(ctx, tables); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("prepare index: %w", err)
	}
	for _, n := range notes {
		if err := s.put(ctx, n); err != nil {
			_ = db.Close()
			return nil, err
		}
	}
	_, err = s.reindex(ctx)
	return s, err
}

func (s *store) close() error { return s.db.Close() }

// put stores a note, replacing one with the same id.
func (s *store) put(ctx context.Context, n note) error {
	return s.inTransaction(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?, ?, ?)`,
			n.ID, n.KnowledgeBase, n.Title, n.Owner, strings.Join(n.Tags, ","), n.Body, n.Pending)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM readers WHERE id = ?`, n.ID); err != nil {
			return err
		}
		for _, user := range n.readers() {
			if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO readers VALUES (?, ?)`, n.ID, user); err != nil {
				return err
			}
		}
		return nil
	})
}

// reindex builds the full-text index anew from all notes that passed review, and returns how many there are.
func (s *store) reindex(ctx context.Context) (count int, err error) {
	err = s.inTransaction(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM words`); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO words SELECT id, title, body FROM notes WHERE NOT pending ORDER BY id`); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM words`).Scan(&count)
	})
	return count, err
}

func (s *store) inTransaction(ctx context.Context, work func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := work(tx); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return tx.Commit()
}

// hit is a note that was found, with how well it fits.
type hit struct {
	note
	Score   float64
	Snippet string
}

// bounds say whose view it is and to what the caller narrowed it. As in PSKA, an empty list does not narrow.
type bounds struct {
	User           string
	KnowledgeBases []string
	Sources        []string
}

const (
	columns = `n.id, n.knowledge_base, n.title, n.owner, n.tags, n.body, n.pending`
	within  = `EXISTS (SELECT 1 FROM readers r WHERE r.id = n.id AND r.user IN (?, 'public'))
		AND (? = '[]' OR n.knowledge_base IN (SELECT value FROM json_each(?)))
		AND (? = '[]' OR n.id IN (SELECT value FROM json_each(?)))`
)

func (b bounds) arguments() []any {
	bases, sources := jsonList(b.KnowledgeBases), jsonList(b.Sources)
	return []any{b.User, bases, bases, sources, sources}
}

func jsonList(list []string) string {
	if len(list) == 0 {
		return "[]"
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(encoded)
}

// search finds notes that hold any of the query's words, best first, ties by id.
func (s *store) search(ctx context.Context, query string, limit int, b bounds) ([]hit, error) {
	match := matchAny(query)
	if match == "" {
		return nil, nil
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+columns+`, round(-bm25(words, 0, 2.0, 1.0), 4) AS score,
		snippet(words, 2, '', '', ' … ', 32) FROM words JOIN notes n ON n.id = words.id
		WHERE words MATCH ? AND NOT n.pending AND `+within+` ORDER BY score DESC, n.id LIMIT ?`,
		append(append([]any{match}, b.arguments()...), limit)...)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	var hits []hit
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var h hit
		var tags string
		if err := rows.Scan(&h.ID, &h.KnowledgeBase, &h.Title, &h.Owner, &tags, &h.Body, &h.Pending, &h.Score, &h.Snippet); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		h.Tags = splitList(tags)
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

// list returns the notes inside the bounds that wait for review, or those that passed it, by id.
func (s *store) list(ctx context.Context, pending bool, b bounds) ([]note, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+columns+` FROM notes n WHERE n.pending = ? AND `+within+` ORDER BY n.id`,
		append([]any{pending}, b.arguments()...)...)
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	var notes []note
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n note
		var tags string
		if err := rows.Scan(&n.ID, &n.KnowledgeBase, &n.Title, &n.Owner, &tags, &n.Body, &n.Pending); err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		n.Tags = splitList(tags)
		notes = append(notes, n)
	}
	return notes, rows.Err()
}

// matchAny turns a question into an FTS5 expression that matches any of its words, however it is written.
func matchAny(query string) string {
	words := wordsOf(query)
	for i, word := range words {
		words[i] = `"` + word + `"`
	}
	return strings.Join(words, " OR ")
}

// wordsOf are the words of a question that say what it is about; all of them when none does.
func wordsOf(query string) []string {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	telling := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(smallWords(), word) })
	if len(telling) == 0 {
		return words
	}
	return telling
}

func smallWords() []string {
	return strings.Fields("a about an and are as at by can did do does for from has have how i in is it its me my of on or " +
		"our say says tell that the their there this to was we were what when where which who why will with you your")
}

func (s *store) remove(ctx context.Context, n note) error {
	return s.inTransaction(ctx, func(tx *sql.Tx) error {
		for _, statement := range []string{`DELETE FROM notes WHERE id = ?`, `DELETE FROM readers WHERE id = ?`} {
			if _, err := tx.ExecContext(ctx, statement, n.ID); err != nil {
				return err
			}
		}
		return nil
	})
}
