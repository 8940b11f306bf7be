// Package mysql reads MySQL and MariaDB databases: one statement that only reads, under a logical name that the operator
// gave, in a read-only transaction of a connection of its own, and makes one piece of evidence of its rows.
//
// What is sent is the statement as package readonly wrote it anew. A session is set so that the server reads it as that
// package did; time, rows and bytes are bounded on this side and, where the server can, on the other. A statement that
// is given up is killed. No word of a server, and nothing of a DSN, leaves this package.
package mysql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/plugins/evidence/readonly"
	"github.com/fastreact/fastreact/sdk"
)

// Config is what New needs. All limits are positive.
type Config struct {
	Datasources map[string]Datasource
	Clock       func() time.Time
	Log         *slog.Logger

	Rows    int           // read for one question
	Bytes   int           // read for one question
	Timeout time.Duration // of one statement
	Excerpt int           // bytes of an excerpt
}

// Datasource is one database.
type Datasource struct {
	DSN             string // of go-sql-driver/mysql; never shown
	RequireReadOnly bool   // refuse every statement while the account may do more than read
}

// Source is all databases. It is safe for concurrent use.
type Source struct {
	config    Config
	databases map[string]*database
}

// maxName bounds a logical name in bytes.
const maxName = 64

// New checks the config and contacts nobody. An error names a datasource, and nothing of its DSN.
func New(config Config) (*Source, error) {
	s := &Source{config: config, databases: map[string]*database{}}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(config.Datasources)) {
		one, err := newDatabase(name, config)
		if err != nil {
			problems = append(problems, fmt.Errorf("mysql datasource %s: %w", name, err))
			continue
		}
		s.databases[name] = one
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return s, nil
}

// Names lists the logical names in order.
func (s *Source) Names() []string { return slices.Sorted(maps.Keys(s.databases)) }

// Ask answers {datasource, sql} with one item.
func (s *Source) Ask(ctx context.Context, args sdk.Args) (fact.Answer, error) {
	if len(s.databases) == 0 {
		return fact.Answer{}, fact.Unavailable("no MySQL datasource is configured.", nil)
	}
	if err := fact.Known(args, "datasource", "sql"); err != nil {
		return fact.Answer{}, err
	}
	name, err := fact.Text(args, "datasource", maxName)
	if err != nil {
		return fact.Answer{}, err
	}
	asked, known := s.databases[name]
	if !known {
		return fact.Answer{}, fact.Refuse("No datasource has this name.")
	}
	text, err := fact.Text(args, "sql", readonly.MaxBytes)
	if err != nil {
		return fact.Answer{}, err
	}
	statement, err := readonly.Check(text)
	if err != nil {
		return fact.Answer{}, err
	}
	got, err := asked.query(ctx, statement)
	if err != nil {
		return fact.Answer{}, err
	}
	if readonly.Constant(statement) {
		return s.constant(name, got), nil
	}
	return s.answer(name, got), nil
}

// Check connects to one database and fails when it cannot be read, or when its account may do more than read.
func (s *Source) Check(ctx context.Context, name string) error {
	one, known := s.databases[name]
	if !known {
		return fact.Refuse("No datasource has this name.")
	}
	return one.check(ctx)
}

// Close does nothing: no connection outlives its question.
func (s *Source) Close() error { return nil }
