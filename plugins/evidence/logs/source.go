// Package logs finds lines in log files below configured folders and makes one piece of evidence of them, newest first.
// It reads regular files and nothing else, never leaves a folder, follows no link, and bounds what it reads; a file that
// grows, shrinks or vanishes meanwhile ends no search. A name in its answers is the path below a folder, as the caller
// could have written it.
package logs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/sdk"
)

// Config is what New needs. All limits are positive.
type Config struct {
	Roots []string // absolute folders; none: no logs are configured
	Zone  *time.Location
	Clock func() time.Time

	Bytes   int64 // read for one question
	Files   int   // looked at for one question
	Matches int   // in one answer
	Excerpt int   // bytes of an excerpt
}

// Source is the log files of all folders. It is safe for concurrent use.
type Source struct{ config Config }

// defaultMatches is how many lines are answered when nobody says.
const defaultMatches = 20

// New checks the config. A folder need not exist yet.
func New(config Config) (*Source, error) {
	var problems []error
	for i, root := range config.Roots {
		if !filepath.IsAbs(root) {
			problems = append(problems, fmt.Errorf("logs: root %d is no absolute path", i+1))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return &Source{config}, nil
}

// Configured reports whether there are folders.
func (s *Source) Configured() bool { return len(s.config.Roots) > 0 }

// question is what a caller asks.
type question struct {
	matches func(line string) bool
	paths   pattern
	since   time.Time // zero: no bound
	limit   int
}

// Ask answers {query, paths, since, limit} with one item.
func (s *Source) Ask(ctx context.Context, args sdk.Args) (fact.Answer, error) {
	if !s.Configured() {
		return fact.Answer{}, fact.Unavailable("no log folders are configured.", nil)
	}
	asked, err := s.read(args)
	if err != nil {
		return fact.Answer{}, err
	}
	roots, err := s.open()
	if err != nil {
		return fact.Answer{}, err
	}
	defer closeAll(roots)
	found := newSearch(s.config, asked)
	found.run(ctx, roots)
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return fact.Answer{}, fact.Unavailable("the call was cancelled.", context.Cause(ctx))
	}
	return found.answer(), nil
}

func (s *Source) read(args sdk.Args) (question, error) {
	if err := fact.Known(args, "query", "paths", "since", "limit"); err != nil {
		return question{}, err
	}
	text, err := fact.Text(args, "query", maxQuery)
	if err != nil {
		return question{}, err
	}
	asked := question{limit: min(defaultMatches, s.config.Matches)}
	if asked.matches, err = readQuery(text); err != nil {
		return question{}, err
	}
	paths, err := fact.Optional(args, "paths", maxQuery)
	if err != nil {
		return question{}, err
	}
	if asked.paths, err = readPattern(paths); err != nil {
		return question{}, err
	}
	if asked.since, err = fact.Instant(args, "since", s.config.Clock(), time.Time{}); err != nil {
		return question{}, err
	}
	if args.Has("limit") {
		limit, err := args.Whole("limit")
		if err != nil || limit < 1 {
			return question{}, fact.Refuse("The argument limit must be a whole number above zero.")
		}
		asked.limit = int(min(limit, int64(s.config.Matches)))
	}
	return asked, nil
}

// open opens every folder that is there. It fails when none is.
func (s *Source) open() ([]*os.Root, error) {
	var roots []*os.Root
	var last error
	for _, path := range s.config.Roots {
		root, err := os.OpenRoot(path)
		if err != nil {
			last = err
		}
		roots = append(roots, root)
	}
	for _, root := range roots {
		if root != nil {
			return roots, nil
		}
	}
	return nil, fact.Unavailable("no configured log folder can be opened.", last)
}

func closeAll(roots []*os.Root) {
	for _, root := range roots {
		if root != nil {
			_ = root.Close()
		}
	}
}

// Check opens every folder and lists it.
func (s *Source) Check(context.Context) error {
	for i, path := range s.config.Roots {
		if err := check(path); err != nil {
			return fact.Unavailable(fmt.Sprintf("Log folder %d of %d cannot be read.", i+1, len(s.config.Roots)), err)
		}
	}
	return nil
}

func check(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return fmt.Errorf("open log folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	folder, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("open log folder: %w", err)
	}
	defer func() { _ = folder.Close() }()
	if _, err := folder.Readdirnames(-1); err != nil {
		return fmt.Errorf("list log folder: %w", err)
	}
	return nil
}
