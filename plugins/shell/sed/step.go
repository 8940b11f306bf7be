package sed

import (
	"fmt"
	"io"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// step runs one command.
func (e *editor) step(s *step) (outcome, error) {
	switch s.verb {
	case 'd':
		return drop, nil
	case 'D':
		_, rest, found := strings.Cut(e.space, "\n")
		if !found {
			return drop, nil
		}
		e.space, e.again = rest, true
		return drop, nil
	case 'q', 'Q':
		e.exit = s.number
		if s.verb == 'Q' {
			return vanish, nil
		}
		return leave, nil
	case 'n', 'N':
		return e.nextLine(s.verb)
	case 's':
		return goOn, e.substitute(s.change)
	case 'c':
		return e.replaceLine(s)
	case 'a', 'i', 'r', 'R', 'w', 'W', 'p', 'P', '=', 'l', 'F':
		return goOn, e.output(s)
	}
	e.spaces(s)
	return goOn, nil
}

// spaces runs the commands that move text between the pattern and the hold space.
func (e *editor) spaces(s *step) {
	switch s.verb {
	case 'g':
		e.space = e.hold
	case 'G':
		e.space += "\n" + e.hold
	case 'h':
		e.hold = e.space
	case 'H':
		e.hold += "\n" + e.space
	case 'x':
		e.space, e.hold = e.hold, e.space
	case 'z':
		e.space = ""
	case 'y':
		e.space = strings.Map(func(r rune) rune {
			if other, there := s.swap[r]; there {
				return other
			}
			return r
		}, e.space)
	}
}

func (e *editor) nextLine(verb byte) (outcome, error) {
	before := e.space
	if e.lines.last() {
		if verb == 'n' {
			return leave, nil
		}
		return leave, nil
	}
	if verb == 'n' && !e.quiet {
		if err := e.print(before); err != nil {
			return vanish, err
		}
	}
	if err := e.flushAfter(); err != nil {
		return vanish, err
	}
	e.read()
	if verb == 'N' {
		e.space = before + "\n" + e.space
	}
	return goOn, nil
}

func (e *editor) substitute(c *change) error {
	pattern := e.pattern(c.pattern)
	if pattern == nil {
		return fmt.Errorf("no previous regular expression")
	}
	text, changed := c.apply(pattern, e.space)
	if !changed {
		return nil
	}
	e.space, e.changed = text, true
	if c.print {
		if err := e.print(e.space); err != nil {
			return err
		}
	}
	if c.file != "" {
		return e.toFile(c.file, e.space)
	}
	return nil
}

// replaceLine is c: the text comes once, at the end of a range.
func (e *editor) replaceLine(s *step) (outcome, error) {
	if s.to != nil && !s.negated && s.inside.active {
		return drop, nil
	}
	return drop, e.write(s.text)
}

// output runs the commands that write something.
func (e *editor) output(s *step) error {
	switch s.verb {
	case 'p':
		return e.print(e.space)
	case 'P':
		first, _, _ := strings.Cut(e.space, "\n")
		return e.write(first + string(e.end))
	case '=':
		return e.write(fmt.Sprintf("%d\n", e.number))
	case 'F':
		return e.write(e.lines.name + "\n")
	case 'l':
		return e.write(visible(e.space) + "\n")
	case 'i':
		return e.write(s.text)
	case 'a':
		e.after = append(e.after, func() error { return e.write(s.text) })
	case 'r', 'R':
		e.after = append(e.after, func() error { return e.insertFile(s.text) })
	case 'w':
		return e.toFile(s.text, e.space)
	case 'W':
		first, _, _ := strings.Cut(e.space, "\n")
		return e.toFile(s.text, first)
	}
	return nil
}

// insertFile copies a file to the output. One that cannot be read is empty.
func (e *editor) insertFile(name string) error {
	input, err := e.c.Open(name)
	if err != nil {
		return nil
	}
	defer input.Close()
	if _, err := io.Copy(e.out, input); err != nil {
		return command.ErrStop
	}
	return nil
}

func (e *editor) toFile(name, text string) error {
	file, open := e.writes[name]
	if !open {
		var err error
		if file, err = e.c.Create(name); err != nil {
			return fmt.Errorf("couldn't open file %s: %s", name, command.Reason(err))
		}
		e.writes[name] = file
	}
	if _, err := io.WriteString(file, text+"\n"); err != nil {
		return fmt.Errorf("couldn't write to %s: %s", name, command.Reason(err))
	}
	return nil
}
