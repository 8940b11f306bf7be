package files

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// search is one grep_files call and what it has found so far.
type search struct {
	folder  folder
	pattern *regexp.Regexp
	glob    string // only files whose path below base, or whose name, matches; empty = every file
	base    string
	limit   int // matches to stop at

	out      bytes.Buffer
	matches  int
	searched int
	skipped  int // binary, too large or unreadable
	full     bool
}

// grepFiles finds the lines that match a regular expression and writes them as path:line:text.
func grepFiles(ctx context.Context, f folder, args json.RawMessage) (string, error) {
	s, err := newSearch(f, args)
	if err != nil {
		return "", err
	}
	if _, err := f.root.Stat(s.base); err != nil {
		return "", trouble(s.base, err)
	}
	note, err := f.walk(ctx, s.base, func(name string, entry fs.DirEntry) bool {
		if s.wants(name) {
			s.look(name, entry)
		}
		return !s.full
	})
	if err != nil {
		return "", err
	}
	return s.text(note), nil
}

func newSearch(f folder, args json.RawMessage) (*search, error) {
	var given, pattern string
	var ignoreCase bool
	s := &search{folder: f, limit: usualMatches}
	known := fields{"path": &given, "pattern": &pattern, "glob": &s.glob, "ignore_case": &ignoreCase, "max_matches": &s.limit}
	if err := known.read(args); err != nil {
		return nil, err
	}
	var err error
	if s.base, err = dir(given); err != nil {
		return nil, err
	}
	if s.glob != "" {
		if err := checkGlob("glob", s.glob); err != nil {
			return nil, err
		}
	}
	if s.limit < 1 || s.limit > maxMatches {
		return nil, fmt.Errorf("max_matches must lie between 1 and %d", maxMatches)
	}
	s.pattern, err = compile(pattern, ignoreCase)
	return s, err
}

func compile(pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	switch {
	case pattern == "":
		return nil, errors.New("the argument \"pattern\" is required")
	case len(pattern) > maxPattern:
		return nil, fmt.Errorf("the argument \"pattern\" is longer than %d bytes", maxPattern)
	}
	if ignoreCase {
		pattern = "(?i)" + pattern
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern is no valid regular expression (RE2 syntax): %w", err)
	}
	return compiled, nil
}

func (s *search) wants(name string) bool {
	if s.glob == "" {
		return true
	}
	below := under(s.base, name)
	return doublestar.MatchUnvalidated(s.glob, below) ||
		doublestar.MatchUnvalidated(s.glob, below[strings.LastIndexByte(below, '/')+1:])
}

// look searches one file.
func (s *search) look(name string, entry fs.DirEntry) {
	info, err := entry.Info()
	if err != nil || info.Size() > maxGrepFile {
		s.skipped++
		return
	}
	handle, err := s.folder.root.Open(name)
	if err != nil {
		s.skipped++
		return
	}
	defer handle.Close()
	if !s.lines(name, io.LimitReader(handle, maxGrepFile)) {
		s.skipped++
		return
	}
	s.searched++
}

// lines searches a file line by line and reports whether it is text.
func (s *search) lines(name string, file io.Reader) bool {
	reader := bufio.NewReaderSize(file, sniffBytes)
	if head, _ := reader.Peek(sniffBytes); isBinary(head) {
		return false
	}
	for number := 1; !s.full; number++ {
		text, err := reader.ReadBytes('\n')
		text = bytes.TrimRight(text, "\r\n")
		if (err == nil || len(text) > 0) && s.pattern.Match(text) {
			s.hit(name, number, text)
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
	return true
}

func (s *search) hit(name string, number int, text []byte) {
	shown := text
	if len(shown) > maxLineShown {
		shown = wholeRunes(shown[:maxLineShown])
	}
	fmt.Fprintf(&s.out, "%s:%d:%s", name, number, shown)
	if len(shown) < len(text) {
		s.out.WriteString(" [line cut]")
	}
	s.out.WriteByte('\n')
	s.matches++
	s.full = s.matches >= s.limit || s.out.Len() >= maxGrepBytes
}

func (s *search) text(note string) string {
	if s.skipped > 0 {
		note += fmt.Sprintf(" %s not searched: binary, unreadable or larger than %d bytes.", plural(s.skipped, "file"), maxGrepFile)
	}
	if s.full {
		note = fmt.Sprintf(" Stopped after %s; use a narrower pattern, path or glob.%s", plural(s.matches, "match"), note)
	}
	if s.matches == 0 {
		return fmt.Sprintf("[No line matches in %s.%s]", plural(s.searched, "file"), note)
	}
	if note == "" {
		return strings.TrimSuffix(s.out.String(), "\n")
	}
	return s.out.String() + "[" + strings.TrimSpace(note) + "]"
}
