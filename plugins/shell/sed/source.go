package sed

import (
	"iter"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// source yields the lines of all inputs and knows whether one is the last.
type source struct {
	c      *command.Call
	files  []string
	end    byte
	name   string // of the input of the line given last
	failed bool

	lines func() (line command.Line, err error, more bool)
	close func()
	ahead *command.Line
	named string // of the input of the line ahead
}

func newSource(c *command.Call, files []string, end byte) *source {
	if len(files) == 0 {
		files = []string{"-"}
	}
	s := &source{c: c, files: files, end: end, close: func() {}}
	s.fetch()
	return s
}

// next gives the next line, false at the end.
func (s *source) next() (command.Line, bool) {
	if s.ahead == nil {
		return command.Line{}, false
	}
	line := *s.ahead
	s.name = s.named
	s.fetch()
	if s.ahead != nil {
		line.Cut = false // another input follows: its lines begin on a new line
	}
	return line, true
}

func (s *source) last() bool { return s.ahead == nil }

// fetch reads one line ahead.
func (s *source) fetch() {
	s.ahead = nil
	for s.lines != nil || len(s.files) > 0 {
		if s.lines == nil && !s.open() {
			continue
		}
		line, err, more := s.lines()
		if more && err == nil {
			s.ahead = &line
			return
		}
		if err != nil {
			s.failed = true
			s.c.Trouble(s.named, err)
		}
		s.close()
		s.lines = nil
	}
}

func (s *source) open() bool {
	s.named, s.files = s.files[0], s.files[1:]
	input, err := s.c.Open(s.named)
	if err != nil {
		s.failed = true
		s.c.Fail("can't read %s: %s", s.named, command.Reason(err))
		return false
	}
	next, stop := iter.Pull2(command.Lines(input, s.end))
	s.lines = next
	s.close = func() {
		stop()
		_ = input.Close()
	}
	return true
}
