package evidence

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/plugins/evidence/logs"
	"github.com/fastreact/fastreact/plugins/evidence/metrics"
	"github.com/fastreact/fastreact/plugins/evidence/mysql"
)

// Config is what New needs. A source that is not configured answers that it is unavailable; zero limits stand for the
// defaults named at each field.
type Config struct {
	Metrics Metrics
	Logs    Logs
	MySQL   map[string]Datasource // by the logical name that callers use
	Limits  Limits
	Log     *slog.Logger     // default: discard
	Clock   func() time.Time // default: time.Now
}

// Metrics reaches a Prometheus server.
type Metrics struct {
	URL string // base URL, such as http://127.0.0.1:9090; empty means none
	// Client goes where the operator lets it. It follows no redirect here, whatever it was told.
	Client *http.Client
}

// Logs are folders whose files may be read.
type Logs struct {
	Roots []string // absolute folders; none means no logs
	// Zone is where time stamps without an offset are from; default: the local one.
	Zone *time.Location
}

// Datasource is one MySQL or MariaDB database.
type Datasource struct {
	DSN string // of go-sql-driver/mysql; never shown
	// RequireReadOnly refuses every statement while the account may do more than read.
	RequireReadOnly bool
}

// Limits bound every answer.
type Limits struct {
	Timeout time.Duration // of one call, 15 s by default

	AnswerBytes  int // of one answer as JSON, 65536 by default
	ExcerptBytes int // of an excerpt, 2048 by default
	Facts        int // of one item, 400 by default
	ValueBytes   int // of a fact's name or value, 512 by default

	Series        int   // named in one answer of metrics, 20 by default
	Samples       int   // of one series over a range, 500 by default
	ResponseBytes int64 // read of one answer of Prometheus, 8 MiB by default

	LogBytes   int64 // read of log files for one call, 64 MiB by default
	LogFiles   int   // looked at for one call, 1000 by default
	LogMatches int   // in one answer, 50 by default

	Rows     int // read of a database for one call, 200 by default
	RowBytes int // read of a database for one call, 65536 by default
}

func (l Limits) withDefaults() Limits {
	l.Timeout = orDefault(l.Timeout, 15*time.Second)
	l.AnswerBytes = orDefault(l.AnswerBytes, 65536)
	l.ExcerptBytes = orDefault(l.ExcerptBytes, 2048)
	l.Facts = orDefault(l.Facts, 400)
	l.ValueBytes = orDefault(l.ValueBytes, 512)
	l.Series = orDefault(l.Series, 20)
	l.Samples = orDefault(l.Samples, 500)
	l.ResponseBytes = orDefault(l.ResponseBytes, 8<<20)
	l.LogBytes = orDefault(l.LogBytes, 64<<20)
	l.LogFiles = orDefault(l.LogFiles, 1000)
	l.LogMatches = orDefault(l.LogMatches, 50)
	l.Rows = orDefault(l.Rows, 200)
	l.RowBytes = orDefault(l.RowBytes, 65536)
	return l
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// problems lists every limit that bounds nothing.
func (l Limits) problems() []error {
	var found []error
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"timeout", int64(l.Timeout)},
		{"answer_bytes", int64(l.AnswerBytes)},
		{"excerpt_bytes", int64(l.ExcerptBytes)},
		{"facts", int64(l.Facts)},
		{"value_bytes", int64(l.ValueBytes)},
		{"series", int64(l.Series)},
		{"samples", int64(l.Samples)},
		{"response_bytes", l.ResponseBytes},
		{"log_bytes", l.LogBytes},
		{"log_files", int64(l.LogFiles)},
		{"log_matches", int64(l.LogMatches)},
		{"rows", int64(l.Rows)},
		{"row_bytes", int64(l.RowBytes)},
	} {
		if limit.value < 0 {
			found = append(found, fmt.Errorf("%s must be positive", limit.name))
		}
	}
	return found
}

func (l Limits) bounds() fact.Bounds {
	return fact.Bounds{Facts: l.Facts, Value: l.ValueBytes, Excerpt: l.ExcerptBytes, Bytes: l.AnswerBytes}
}

func (c Config) withDefaults() Config {
	c.Limits = c.Limits.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logs.Zone == nil {
		c.Logs.Zone = time.Local
	}
	return c
}

// build makes the three sources and reports everything that is wrong with any of them.
func (c Config) build() (*Plugin, error) {
	problems := c.Limits.problems()
	limits := c.Limits
	prometheus, err := metrics.New(metrics.Config{
		URL: c.Metrics.URL, Client: c.Metrics.Client, Clock: c.Clock,
		Series: limits.Series, Samples: limits.Samples, ResponseBytes: limits.ResponseBytes, Excerpt: limits.ExcerptBytes,
	})
	problems = append(problems, err)
	files, err := logs.New(logs.Config{
		Roots: c.Logs.Roots, Zone: c.Logs.Zone, Clock: c.Clock,
		Bytes: limits.LogBytes, Files: limits.LogFiles, Matches: limits.LogMatches, Excerpt: limits.ExcerptBytes,
	})
	problems = append(problems, err)
	datasources := map[string]mysql.Datasource{}
	for name, one := range c.MySQL {
		datasources[name] = mysql.Datasource(one)
	}
	databases, err := mysql.New(mysql.Config{
		Datasources: datasources, Clock: c.Clock, Log: c.Log,
		Rows: limits.Rows, Bytes: limits.RowBytes, Timeout: limits.Timeout, Excerpt: limits.ExcerptBytes,
	})
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		if databases != nil {
			err = errors.Join(err, databases.Close())
		}
		return nil, err
	}
	return &Plugin{config: c, metrics: prometheus, logs: files, mysql: databases}, nil
}
