package sed

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// editor runs a program over lines.
type editor struct {
	c       *command.Call
	program *Program
	quiet   bool
	end     byte
	out     *bufio.Writer
	writes  map[string]io.WriteCloser

	lines   *source
	number  int
	space   string // the pattern space
	hold    string
	cut     bool // the last line has no end
	changed bool // a substitution was made since the last t or line
	again   bool // D: go on without reading
	after   []func() error
	recent  *regexp.Regexp
	quit    bool
	exit    int
}

// outcome says how a cycle goes on after a step.
type outcome int

const (
	goOn   outcome = iota
	finish         // print, then the next cycle
	drop           // the next cycle without printing
	leave          // print, then the end
	vanish         // the end without printing
)

const maxSpace = 16 << 20 // bytes of the pattern or hold space

func (e *editor) edit(ctx context.Context, lines *source) error {
	defer func() { lines.close() }()
	e.lines, e.number = lines, 0
	for _, s := range e.program.steps {
		if s.inside != nil {
			*s.inside = rangeState{active: s.from.zero}
		}
	}
	for ctx.Err() == nil {
		if !e.again && !e.read() {
			return nil
		}
		e.again, e.changed = false, false
		how, err := e.cycle(ctx)
		if err != nil {
			return err
		}
		if (how == finish || how == leave) && !e.quiet {
			if err := e.print(e.space); err != nil {
				return err
			}
		}
		if err := e.flushAfter(); err != nil {
			return err
		}
		if how == leave || how == vanish {
			e.quit = true
			return nil
		}
	}
	return nil
}

func (e *editor) read() bool {
	line, more := e.lines.next()
	if !more {
		return false
	}
	e.space, e.cut = line.Text, line.Cut
	e.number++
	return true
}

// print writes a line with the end it had.
func (e *editor) print(text string) error {
	if e.cut && e.lines.last() {
		_, err := e.out.WriteString(text)
		return err
	}
	_, _ = e.out.WriteString(text)
	if err := e.out.WriteByte(e.end); err != nil {
		return command.ErrStop
	}
	return nil
}

// whole ends a line that was printed without its end, so that more can follow.
func (e *editor) write(text string) error {
	if _, err := e.out.WriteString(text); err != nil {
		return command.ErrStop
	}
	return nil
}

func (e *editor) flushAfter() error {
	after := e.after
	e.after = nil
	if len(after) > 0 && e.cut && e.lines.last() && !e.quiet {
		if err := e.write(string(e.end)); err != nil {
			return err
		}
	}
	for _, task := range after {
		if err := task(); err != nil {
			return err
		}
	}
	return nil
}

// cycle runs the program on the pattern space.
func (e *editor) cycle(ctx context.Context) (outcome, error) {
	steps := e.program.steps
	for at := 0; at < len(steps); {
		if ctx.Err() != nil {
			return vanish, nil
		}
		s := &steps[at]
		at++
		if e.applies(s) == s.negated {
			if s.verb == '{' {
				at = s.number
			}
			continue
		}
		if jump, to := e.jumps(s); jump {
			if to < 0 {
				return finish, nil
			}
			at = to
			continue
		}
		how, err := e.step(s)
		if how != goOn || err != nil {
			return how, err
		}
		if len(e.space) > maxSpace || len(e.hold) > maxSpace {
			return vanish, fmt.Errorf("the pattern space has grown beyond %d bytes", maxSpace)
		}
	}
	return finish, nil
}

// jumps reports whether b, t or T jumps, and where to: -1 is the end of the cycle.
func (e *editor) jumps(s *step) (jump bool, to int) {
	switch s.verb {
	case 'b':
		jump = true
	case 't':
		jump = e.changed
		e.changed = false
	case 'T':
		jump = !e.changed
		e.changed = false
	default:
		return false, 0
	}
	if s.text == "" {
		return jump, -1
	}
	return jump, e.program.labels[s.text]
}

// applies reports whether a step is for the current line.
func (e *editor) applies(s *step) bool {
	switch {
	case s.from == nil:
		return true
	case s.to == nil:
		return e.at(s.from)
	case s.inside.active:
		return e.stays(s)
	case !e.at(s.from):
		return false
	}
	switch {
	case s.to.plus:
		s.inside.end = e.number + s.to.line
	case s.to.upTo:
		s.inside.end = e.number
		if s.to.line > 0 {
			s.inside.end = (e.number + s.to.line - 1) / s.to.line * s.to.line
		}
	case s.to.pattern == nil && !s.to.useLast && !s.to.last:
		s.inside.end = s.to.line
	default:
		s.inside.active, s.inside.end = true, 0
		return true
	}
	s.inside.active = s.inside.end > e.number
	return true
}

// stays says of a line inside a range whether it still belongs to it, and ends the range where it ends.
func (e *editor) stays(s *step) bool {
	if s.inside.end > 0 {
		s.inside.active = e.number < s.inside.end
		return e.number <= s.inside.end
	}
	if e.at(s.to) {
		s.inside.active = false
	}
	return true
}

func (e *editor) at(a *address) bool {
	switch {
	case a.last:
		return e.lines.last()
	case a.pattern != nil || a.useLast:
		if pattern := e.pattern(a.pattern); pattern != nil {
			return pattern.MatchString(e.space)
		}
		return false
	case a.step > 0:
		return e.number >= a.line && (e.number-a.line)%a.step == 0
	}
	return e.number == a.line
}

// pattern returns the expression, or the one used last, and remembers it.
func (e *editor) pattern(p *regexp.Regexp) *regexp.Regexp {
	if p != nil {
		e.recent = p
	}
	return e.recent
}

func (e *editor) close() {
	for _, file := range e.writes {
		_ = file.Close() // what could not be written was reported when it was written
	}
}

// visible writes text as l shows it.
func visible(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch ch := text[i]; {
		case ch == '\\':
			b.WriteString(`\\`)
		case strings.IndexByte("\a\b\f\n\r\t\v", ch) >= 0:
			b.WriteString(`\` + string("abfnrtv"[strings.IndexByte("\a\b\f\n\r\t\v", ch)]))
		case ch < 32 || ch > 126:
			fmt.Fprintf(&b, `\%03o`, ch)
		default:
			b.WriteByte(ch)
		}
	}
	return b.String() + "$"
}
