package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// lineBytes bounds what is read of one line; what follows is skipped.
const lineBytes = 64 << 10

// search is one question while it is answered.
type search struct {
	config  Config
	asked   question
	stamps  stamps
	budget  int64
	found   []match
	total   int
	files   map[string]bool // in which something was found
	read    int             // files that were read
	trouble trouble
}

// match is a line that matches.
type match struct {
	file  string
	line  int // counted from 1; 0 when the file was not read from its start
	text  string
	at    time.Time // when it was written, or its file
	timed bool      // at is of a time stamp
}

// trouble counts what could not be searched.
type trouble struct {
	unreadable, special, compressed, binary, partial, long, timeless int
	unseen, late                                                     bool
}

func newSearch(config Config, asked question) *search {
	return &search{
		config: config, asked: asked, budget: config.Bytes, files: map[string]bool{},
		stamps: stamps{zone: config.Zone, now: config.Clock()},
	}
}

// run reads files, newest first, until the bytes or the time are used up.
func (s *search) run(ctx context.Context, roots []*os.Root) {
	for _, one := range s.walk(ctx, roots) {
		if ctx.Err() != nil {
			s.trouble.late = true
			return
		}
		if s.budget <= 0 {
			s.trouble.unseen = true
			return
		}
		if err := s.file(ctx, one); err != nil {
			s.trouble.unreadable++
		}
	}
}

// file reads one file to the length it has when it is opened.
func (s *search) file(ctx context.Context, one candidate) error {
	file, size, err := openFile(one)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	allowed := min(size, s.budget)
	partial, err := begin(file, size, allowed)
	if err != nil {
		return err
	}
	s.budget -= allowed
	lines := &lineReader{from: bufio.NewReaderSize(io.LimitReader(file, allowed), lineBytes)}
	if head, _ := lines.from.Peek(4096); bytes.IndexByte(head, 0) >= 0 {
		s.trouble.binary++
		s.budget += allowed
		return nil
	}
	s.read++
	if partial {
		s.trouble.partial++
		lines.drop()
	}
	return s.lines(ctx, lines, match{file: one.shown, at: one.modified}, partial)
}

// lines looks at every line. A line without a time stamp has that of the line before it, as in a stack trace; where none
// came before, that of its file.
func (s *search) lines(ctx context.Context, lines *lineReader, like match, partial bool) error {
	kept := []match{}
	for number := 1; ; number++ {
		if number%1024 == 0 && ctx.Err() != nil {
			s.trouble.late = true
			break
		}
		text, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		matches := s.asked.matches(text)
		if matches || !s.asked.since.IsZero() {
			if at, found := s.stamps.read(text); found {
				like.at, like.timed = at, true
			}
		}
		if !matches || like.timed && like.at.Before(s.asked.since) {
			continue
		}
		one := like
		one.text = text
		if !partial {
			one.line = number
		}
		kept = append(kept, one)
		s.count(one)
		if len(kept) > 2*s.asked.limit {
			kept = slices.Delete(kept, 0, len(kept)-s.asked.limit)
		}
	}
	s.trouble.long += lines.long
	s.keep(kept)
	return nil
}

func (s *search) count(one match) {
	s.total++
	s.files[one.file] = true
	if !one.timed && !s.asked.since.IsZero() {
		s.trouble.timeless++
	}
}

// keep holds the newest matches of all files that were read. Of two at one time the one further down is newer.
func (s *search) keep(more []match) {
	slices.Reverse(more)
	s.found = append(s.found, more...)
	slices.SortStableFunc(s.found, func(a, b match) int { return b.at.Compare(a.at) })
	s.found = s.found[:min(len(s.found), s.asked.limit)]
}

// answer makes one item of what was found.
func (s *search) answer() fact.Answer {
	facts := []fact.Fact{
		{Name: "matching lines", Value: strconv.Itoa(s.total)},
		{Name: "files with a match", Value: strconv.Itoa(len(s.files))},
		{Name: "files read", Value: strconv.Itoa(s.read)},
	}
	var excerpt strings.Builder
	for _, one := range s.found {
		facts = append(facts, fact.Fact{Name: one.name(), Value: one.text})
		if excerpt.Len() <= s.config.Excerpt {
			fmt.Fprintf(&excerpt, "%s: %s\n", one.name(), fact.Cut(one.text, 300))
		}
	}
	title := fmt.Sprintf("Logs: %s in %s", counted(s.total, "matching line"), counted(len(s.files), "file"))
	if s.total == 0 {
		title = fmt.Sprintf("Logs: no matching line in %s", counted(s.read, "file"))
		excerpt.WriteString("no matching line")
	}
	return fact.Answer{
		Evidence: []fact.Item{{
			Source: "logs", Title: title, ObservedAt: fact.At(s.config.Clock()), Facts: facts,
			Excerpt: strings.TrimSuffix(excerpt.String(), "\n"),
		}},
		Note: strings.Join(s.notes(), " "),
	}
}

func (m match) name() string {
	if m.line == 0 {
		return m.file
	}
	return m.file + ":" + strconv.Itoa(m.line)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func (s *search) notes() []string {
	var notes []string
	say := func(n int, format string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, n))
		}
	}
	say(s.total-len(s.found), "%d further matching lines are older and not shown.")
	say(s.trouble.compressed, "Compressed files are not read: %d.")
	say(s.trouble.binary, "Binary files are not read: %d.")
	say(s.trouble.special, "Links, pipes and devices are not read: %d.")
	say(s.trouble.unreadable, "Files or folders that could not be read: %d.")
	say(s.trouble.partial, "Files of which only the end was read, so that lines have no number: %d.")
	say(s.trouble.long, "Lines of which only the start was read: %d.")
	say(s.trouble.timeless, "Lines without a time stamp, whose file was written to since then: %d.")
	if s.trouble.unseen {
		notes = append(notes, "There is more than is read for one question: name paths, or a later since.")
	}
	if s.trouble.late {
		notes = append(notes, "The time for one question was over before all files were read.")
	}
	return notes
}
