// Package metrics asks a Prometheus server, at one instant or over a range, and makes one piece of evidence of its
// answer. It goes to the one address it was given and follows no redirect; it reads a bounded answer, names a bounded
// number of series, and shows nothing that the server says about an error.
package metrics

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/sdk"
)

// Config is what New needs. All limits are positive.
type Config struct {
	URL    string       // empty: no server is configured
	Client *http.Client // must be given when URL is
	Clock  func() time.Time

	Series        int   // that are named in one answer
	Samples       int   // of one series over a range
	ResponseBytes int64 // that are read of one answer
	Excerpt       int   // bytes of an excerpt
}

// Source is one Prometheus server, or none. It is safe for concurrent use.
type Source struct {
	config Config
	base   *url.URL
	client http.Client
}

// maxQuery bounds a query in bytes.
const maxQuery = 4096

// New checks the config and contacts nobody.
func New(config Config) (*Source, error) {
	s := &Source{config: config}
	if config.URL == "" {
		return s, nil
	}
	base, err := url.Parse(config.URL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("prometheus: the url is no http or https address")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("prometheus: the url holds more than scheme, host and path")
	case config.Client == nil:
		return nil, errors.New("prometheus: no way to the server was given")
	}
	s.base, s.client = base, *config.Client
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client.Jar = nil
	return s, nil
}

// Configured reports whether there is a server.
func (s *Source) Configured() bool { return s.base != nil }

// question is what a caller asks.
type question struct {
	query      string
	at         time.Time // of an instant query, or the end of a range
	start      time.Time // zero for an instant query
	step       time.Duration
	thinnedOut bool // the step was widened
}

// Ask answers {query, time} or {query, start, end, step} with one item.
func (s *Source) Ask(ctx context.Context, args sdk.Args) (fact.Answer, error) {
	if !s.Configured() {
		return fact.Answer{}, fact.Unavailable("no Prometheus server is configured.", nil)
	}
	asked, err := s.read(args)
	if err != nil {
		return fact.Answer{}, err
	}
	reply, err := s.fetch(ctx, asked)
	if err != nil {
		return fact.Answer{}, err
	}
	if constant(asked.query) {
		return unasked(asked), nil
	}
	return s.answer(asked, reply), nil
}

func (s *Source) read(args sdk.Args) (question, error) {
	if err := fact.Known(args, "query", "time", "start", "end", "step"); err != nil {
		return question{}, err
	}
	query, err := fact.Text(args, "query", maxQuery)
	if err != nil {
		return question{}, err
	}
	now := s.config.Clock()
	asked := question{query: strings.TrimSpace(query)}
	if !args.Has("start") {
		if args.Has("end") || args.Has("step") {
			return question{}, fact.Refuse("A range needs a start.")
		}
		asked.at, err = fact.Instant(args, "time", now, now)
		return asked, err
	}
	if args.Has("time") {
		return question{}, fact.Refuse("Give either time, or start and end.")
	}
	if asked.start, err = fact.Instant(args, "start", now, now); err != nil {
		return question{}, err
	}
	if asked.at, err = fact.Instant(args, "end", now, now); err != nil {
		return question{}, err
	}
	return s.stepped(asked, args)
}

// stepped chooses how far apart the samples of a range are, so that no series has more than it may.
func (s *Source) stepped(asked question, args sdk.Args) (question, error) {
	span := asked.at.Sub(asked.start)
	if span <= 0 {
		return question{}, fact.Refuse("A range must end after its start.")
	}
	least := (span/time.Duration(s.config.Samples) + time.Millisecond).Truncate(time.Millisecond)
	asked.step = max(span/60, time.Second, least).Truncate(time.Millisecond)
	if !args.Has("step") {
		return asked, nil
	}
	step, err := readStep(args)
	if err != nil {
		return question{}, err
	}
	asked.step, asked.thinnedOut = max(step, least), step < least
	return asked, nil
}

func readStep(args sdk.Args) (time.Duration, error) {
	wrong := fact.Refuse("The argument step must be a duration such as 30s.")
	if seconds, err := args.Number("step"); err == nil {
		if !(seconds >= 0.001 && seconds < 1e8) {
			return 0, wrong
		}
		return time.Duration(seconds * float64(time.Second)), nil
	}
	text, err := fact.Text(args, "step", 32)
	if err != nil {
		return 0, err
	}
	step, err := fact.Span(text)
	if err != nil || step < time.Millisecond {
		return 0, wrong
	}
	return step, nil
}

// Check asks the server for a constant.
func (s *Source) Check(ctx context.Context) error {
	_, err := s.fetch(ctx, question{query: "vector(1)", at: s.config.Clock()})
	return err
}
