package sed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/plugins/shell/regex"
)

const maxScript = 1 << 20 // bytes

// Parse reads a script.
func Parse(text string, extended bool) (*Program, error) {
	if len(text) > maxScript {
		return nil, fmt.Errorf("the script is longer than %d bytes", maxScript)
	}
	p := &parser{text: text, extended: extended, program: &Program{labels: map[string]int{}}}
	for {
		p.skip(" \t\n;")
		if p.done() {
			break
		}
		if err := p.step(); err != nil {
			return nil, fmt.Errorf("char %d: %w", p.at, err)
		}
	}
	if len(p.open) > 0 {
		return nil, errors.New("unmatched `{'")
	}
	for _, s := range p.program.steps {
		if _, known := p.program.labels[s.text]; strings.IndexByte("btT", s.verb) >= 0 && s.text != "" && !known {
			return nil, fmt.Errorf("can't find label for jump to `%s'", s.text)
		}
	}
	return p.program, nil
}

type parser struct {
	text     string
	at       int
	extended bool
	program  *Program
	open     []int // blocks not yet closed
}

func (p *parser) done() bool { return p.at >= len(p.text) }

func (p *parser) peek() byte {
	if p.done() {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) skip(set string) {
	for !p.done() && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) step() error {
	if p.peek() == '#' {
		p.line()
		return nil
	}
	var s step
	var err error
	if s.from, err = p.address(); err != nil {
		return err
	}
	p.skip(" \t")
	if s.from != nil && p.peek() == ',' {
		p.at++
		p.skip(" \t")
		if s.to, err = p.second(); err != nil {
			return err
		}
		s.inside = &rangeState{}
		p.skip(" \t")
	}
	if s.from != nil && s.from.line == 0 && s.from.step == 0 && !s.from.last && s.from.pattern == nil && !s.from.useLast {
		if s.to == nil || s.to.pattern == nil && !s.to.useLast {
			return errors.New("invalid usage of line address 0")
		}
		s.from.zero = true
	}
	for p.peek() == '!' {
		s.negated = true
		p.at++
		p.skip(" \t")
	}
	if p.done() {
		return errors.New("missing command")
	}
	s.verb = p.peek()
	p.at++
	return p.verb(s)
}

func (p *parser) add(s step) { p.program.steps = append(p.program.steps, s) }

// verb reads what belongs to a command.
func (p *parser) verb(s step) error {
	switch s.verb {
	case '{':
		p.open = append(p.open, len(p.program.steps))
		p.add(s)
		return nil
	case '}':
		return p.closeBlock(s)
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
	case 'l', 'q', 'Q', 'L':
		p.skip(" \t")
		s.number = max(p.number(), 0)
	case 'a', 'i', 'c':
		s.text = p.insertion()
		p.add(s)
		return nil
	case ':':
		p.skip(" \t")
		s.text = strings.TrimRight(p.until("\n;"), " \t")
		if s.text == "" || s.from != nil {
			return errors.New("\":\" wants a label and no address")
		}
		p.program.labels[s.text] = len(p.program.steps)
		return nil
	case 'b', 't', 'T':
		p.skip(" \t")
		s.text = strings.TrimRight(p.until("\n;}"), " \t")
	case 'r', 'w', 'R', 'W':
		p.skip(" \t")
		if s.text = p.line(); s.text == "" {
			return errors.New("missing filename in r/R/w/W commands")
		}
	case 's':
		if err := p.substitution(&s); err != nil {
			return err
		}
	case 'y':
		if err := p.transliteration(&s); err != nil {
			return err
		}
	case 'e':
		return errors.New("the command e is not available: it would run another program")
	default:
		return fmt.Errorf("unknown command: `%c'", s.verb)
	}
	p.add(s)
	return p.endOfCommand()
}

func (p *parser) closeBlock(s step) error {
	if len(p.open) == 0 || s.from != nil {
		return errors.New("unexpected `}'")
	}
	last := len(p.open) - 1
	p.program.steps[p.open[last]].number = len(p.program.steps)
	p.open = p.open[:last]
	return p.endOfCommand()
}

func (p *parser) endOfCommand() error {
	p.skip(" \t")
	switch p.peek() {
	case 0, '\n', ';', '}', '#':
		return nil
	}
	return errors.New("extra characters after command")
}

func (p *parser) until(stops string) string {
	start := p.at
	for !p.done() && strings.IndexByte(stops, p.text[p.at]) < 0 {
		p.at++
	}
	return p.text[start:p.at]
}

// line reads to the end of the line.
func (p *parser) line() string {
	text := p.until("\n")
	if !p.done() {
		p.at++
	}
	return text
}

func (p *parser) number() int {
	start := p.at
	for !p.done() && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	n, err := strconv.Atoi(p.text[start:p.at])
	if err != nil {
		return -1
	}
	return n
}

// insertion reads the text of a, i and c: on this line, or on the lines after a backslash.
func (p *parser) insertion() string {
	p.skip(" \t")
	if p.peek() == '\\' {
		p.at++
		rest := p.at
		p.skip(" \t")
		if p.peek() == '\n' {
			p.at++
		} else {
			p.at = rest
		}
	}
	var b strings.Builder
	for !p.done() {
		ch := p.text[p.at]
		p.at++
		if ch == '\n' {
			break
		}
		if ch == '\\' && !p.done() {
			ch = p.text[p.at]
			p.at++
			if ch == 't' {
				ch = '\t'
			}
		}
		b.WriteByte(ch)
	}
	return b.String() + "\n"
}

func (p *parser) address() (*address, error) {
	switch ch := p.peek(); {
	case ch >= '0' && ch <= '9':
		a := &address{line: p.number()}
		if p.peek() == '~' {
			p.at++
			a.step = max(p.number(), 0)
			if a.step == 0 && a.line == 0 {
				a.step = 1
			}
		}
		if a.line < 0 {
			return nil, errors.New("the line number is too large")
		}
		return a, nil
	case ch == '$':
		p.at++
		return &address{last: true}, nil
	case ch == '/':
		return p.pattern('/')
	case ch == '\\' && p.at+1 < len(p.text):
		p.at++
		return p.pattern(p.peek())
	}
	return nil, nil
}

func (p *parser) second() (*address, error) {
	switch p.peek() {
	case '+', '~':
		plus := p.peek() == '+'
		p.at++
		n := p.number()
		if n < 0 {
			return nil, errors.New("a number is expected")
		}
		return &address{line: n, plus: plus, upTo: !plus}, nil
	}
	a, err := p.address()
	if err == nil && a == nil {
		err = errors.New("unexpected `,'")
	}
	return a, err
}

func (p *parser) pattern(delimiter byte) (*address, error) {
	text, err := p.delimited(delimiter, true)
	if err != nil {
		return nil, errors.New("unterminated address regex")
	}
	syntax := regex.Syntax{Extended: p.extended}
	for p.peek() == 'I' || p.peek() == 'M' {
		syntax.Fold = syntax.Fold || p.peek() == 'I'
		syntax.Multiline = syntax.Multiline || p.peek() == 'M'
		p.at++
	}
	if text == "" {
		return &address{useLast: true}, nil
	}
	compiled, err := regex.Compile(text, syntax)
	return &address{pattern: compiled}, err
}

// delimited reads up to the next delimiter, starting at one. An escaped delimiter is the plain character. In a regular
// expression, brackets protect the delimiter.
func (p *parser) delimited(delimiter byte, expression bool) (string, error) {
	p.at++
	var b strings.Builder
	inBracket := false
	for !p.done() {
		ch := p.text[p.at]
		p.at++
		switch {
		case ch == '\\' && !p.done() && !inBracket:
			next := p.text[p.at]
			p.at++
			if next != delimiter {
				b.WriteByte('\\')
			} else if expression && strings.IndexByte(`.*[]^$|+?(){}`, next) >= 0 && !p.extended {
				b.WriteByte('\\')
			}
			b.WriteByte(next)
			continue
		case inBracket:
			inBracket = ch != ']' || strings.HasSuffix(b.String(), "[") || strings.HasSuffix(b.String(), "[^") || strings.HasSuffix(b.String(), ":") && strings.Contains(b.String(), "[:")
		case ch == delimiter:
			return b.String(), nil
		case ch == '[' && expression:
			inBracket = strings.IndexByte(p.text[p.at:], ']') >= 0
		case ch == '\n' && !expression && delimiter != '\n':
			// a newline is text here
		}
		b.WriteByte(ch)
	}
	return "", errors.New("unterminated")
}

func (p *parser) delimiter() (byte, error) {
	ch := p.peek()
	if ch == 0 || ch == '\n' || ch == '\\' || ch >= utf8.RuneSelf {
		return 0, errors.New("a delimiter of one plain character is expected")
	}
	return ch, nil
}

func (p *parser) transliteration(s *step) error {
	delimiter, err := p.delimiter()
	if err != nil {
		return err
	}
	from, err := p.delimited(delimiter, false)
	if err == nil {
		p.at--
		var to string
		if to, err = p.delimited(delimiter, false); err == nil {
			s.swap, err = swaps(from, to)
		}
	}
	return err
}

func swaps(from, to string) (map[rune]rune, error) {
	plain := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	first, second := []rune(plain.Replace(from)), []rune(plain.Replace(to))
	if len(first) != len(second) {
		return nil, errors.New("strings for `y' command are different lengths")
	}
	swap := map[rune]rune{}
	for i, r := range first {
		swap[r] = second[i]
	}
	return swap, nil
}
