package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Options are the options of one call, in their order.
type Options struct {
	given    []option
	Operands []string
}

type option struct{ name, value string }

// Parse reads options and operands. spec lists the options known, separated by spaces, each with its names separated by
// commas: "n,lines:" is -n and --lines with a value, "r,recursive" has none, "i,in-place?" has one only when it is
// attached, ",include:" has a long name only. The first name given is how the option is asked for. A + at the start of
// spec ends the options at the first operand.
func Parse(args []string, spec string) (Options, error) {
	p := parser{inOrder: strings.HasPrefix(spec, "+"), known: strings.Fields(strings.TrimPrefix(spec, "+"))}
	for p.rest = args; len(p.rest) > 0; {
		word := p.rest[0]
		p.rest = p.rest[1:]
		var err error
		switch {
		case word == "--":
			p.found.Operands = append(p.found.Operands, p.rest...)
			return p.found, nil
		case strings.HasPrefix(word, "--"):
			err = p.long(word[2:])
		case len(word) > 1 && word[0] == '-':
			err = p.short(word[1:])
		case p.inOrder:
			p.found.Operands = append(append(p.found.Operands, word), p.rest...)
			return p.found, nil
		default:
			p.found.Operands = append(p.found.Operands, word)
		}
		if err != nil {
			return Options{}, err
		}
	}
	return p.found, nil
}

type parser struct {
	inOrder bool
	known   []string
	rest    []string
	found   Options
}

// find returns the name an option is asked for by, and whether it takes a value: 0, '?' or ':'.
func (p *parser) find(name string) (first string, takes byte, ok bool) {
	var close []string
	for _, entry := range p.known {
		names, takes := entry, byte(0)
		if last := entry[len(entry)-1]; (last == ':' || last == '?') && len(entry) > 1 {
			names, takes = entry[:len(entry)-1], last
		}
		all := strings.Split(names, ",")
		first := all[0]
		if first == "" {
			first = all[1]
		}
		if name != "" && slices.Contains(all, name) {
			return first, takes, true
		}
		if len(name) > 1 && strings.HasPrefix(all[len(all)-1], name) {
			close = append(close, entry)
		}
	}
	if len(close) == 1 { // an unambiguous beginning of a long name
		entry := strings.TrimRight(close[0], ":?")
		all := strings.Split(entry, ",")
		return p.find(all[len(all)-1])
	}
	return "", 0, false
}

func (p *parser) long(text string) error {
	name, value, attached := strings.Cut(text, "=")
	first, takes, known := p.find(name)
	switch {
	case !known || len(name) < 2:
		return fmt.Errorf("unrecognized option '--%s'", name)
	case takes == 0 && attached:
		return fmt.Errorf("option '--%s' doesn't allow an argument", name)
	case takes == ':' && !attached:
		return p.next(first, "--"+name)
	}
	p.add(first, value)
	return nil
}

func (p *parser) short(text string) error {
	for len(text) > 0 {
		name := text[:1]
		text = text[1:]
		first, takes, known := p.find(name)
		switch {
		case !known:
			return fmt.Errorf("invalid option -- '%s'", name)
		case takes == 0:
			p.add(first, "")
			continue
		case text == "" && takes == ':':
			return p.next(first, "-"+name)
		}
		p.add(first, text)
		return nil
	}
	return nil
}

// next takes the following word as an option's value.
func (p *parser) next(first, shown string) error {
	if len(p.rest) == 0 {
		return fmt.Errorf("option '%s' requires an argument", shown)
	}
	p.add(first, p.rest[0])
	p.rest = p.rest[1:]
	return nil
}

func (p *parser) add(name, value string) {
	p.found.given = append(p.found.given, option{name, value})
}

// Has reports whether an option was given.
func (o Options) Has(name string) bool {
	return slices.ContainsFunc(o.given, func(given option) bool { return given.name == name })
}

// Value returns the last value of an option, or usual.
func (o Options) Value(name, usual string) string {
	for _, given := range slices.Backward(o.given) {
		if given.name == name {
			return given.value
		}
	}
	return usual
}

// Values returns every value of an option.
func (o Options) Values(name string) []string {
	var values []string
	for _, given := range o.given {
		if given.name == name {
			values = append(values, given.value)
		}
	}
	return values
}

// Last returns which of the names was given last, or nothing.
func (o Options) Last(names ...string) string {
	for _, given := range slices.Backward(o.given) {
		if slices.Contains(names, given.name) {
			return given.name
		}
	}
	return ""
}

// Number returns the last value of an option as a whole number, or usual.
func (o Options) Number(name string, usual int) (int, error) {
	text := o.Value(name, "")
	if text == "" {
		return usual, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("invalid number '%s'", text)
	}
	return number, nil
}

// Size reads a number of bytes with an optional unit: b is 512, k, K, M, G are powers of 1024, kB and MB of 1000.
func Size(text string) (int64, error) {
	digits := strings.TrimRight(text, "bkKMGTcwBi")
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("invalid number '%s'", text)
	}
	factor := int64(1)
	switch text[len(digits):] {
	case "", "c":
	case "w":
		factor = 2
	case "b":
		factor = 512
	case "k", "K", "KiB":
		factor = 1 << 10
	case "kB", "KB":
		factor = 1000
	case "M", "MiB":
		factor = 1 << 20
	case "MB":
		factor = 1_000_000
	case "G", "GiB":
		factor = 1 << 30
	default:
		return 0, fmt.Errorf("invalid number '%s'", text)
	}
	return number * factor, nil
}
