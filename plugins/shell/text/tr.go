package text

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func tr(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "+d,delete s,squeeze-repeats c,complement C t,truncate-set1")
	if err != nil {
		return c.Usage(err)
	}
	sets := make([][]rune, len(o.Operands))
	for i, text := range o.Operands {
		if sets[i], err = readSet(text); err != nil {
			return c.Usage(err)
		}
	}
	least, most := 2, 2
	switch {
	case o.Has("d") && o.Has("s"):
	case o.Has("d"):
		least, most = 1, 1
	case o.Has("s"):
		least = 1
	}
	if len(sets) < least || len(sets) > most {
		return c.Usage(fmt.Errorf("%d sets of characters given, %d to %d needed", len(sets), least, most))
	}
	t := translator{squeeze: o.Has("s"), remove: o.Has("d"), complement: o.Has("c") || o.Has("C")}
	t.prepare(sets, o.Has("t"))
	if err := t.run(bufio.NewReader(c.In), c.Out); err != nil && !errors.Is(err, command.ErrStop) {
		return c.Fail("%s", command.Reason(err))
	}
	return 0
}

// translator is one call of tr.
type translator struct {
	squeeze, remove, complement bool

	first    map[rune]bool
	into     map[rune]rune
	last     rune // what the complement becomes
	squeezed map[rune]bool
	all      bool // every character outside first is squeezed
}

func (t *translator) prepare(sets [][]rune, cut bool) {
	t.first, t.into, t.squeezed = map[rune]bool{}, map[rune]rune{}, map[rune]bool{}
	for _, r := range sets[0] {
		t.first[r] = true
	}
	if len(sets) == 1 {
		if t.squeeze && !t.remove {
			t.squeezed, t.all = t.first, t.complement
		}
		return
	}
	second := sets[1]
	for _, r := range second {
		t.squeezed[r] = t.squeeze
	}
	if t.remove || len(second) == 0 {
		return
	}
	t.last = second[len(second)-1]
	for i, r := range sets[0] {
		switch {
		case i < len(second):
			t.into[r] = second[i]
		case !cut:
			t.into[r] = t.last
		}
	}
}

func (t *translator) run(in *bufio.Reader, out *bufio.Writer) error {
	before := rune(-1)
	for {
		r, size, err := in.ReadRune()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if r == '\uFFFD' && size == 1 { // a byte that is no text stays as it is
			_ = in.UnreadRune()
			raw, _ := in.ReadByte()
			if t.remove && t.complement {
				continue
			}
			if out.WriteByte(raw) != nil {
				return command.ErrStop
			}
			before = -1
			continue
		}
		chosen := t.first[r] != t.complement
		switch {
		case t.remove && chosen:
			continue
		case chosen && t.complement && len(t.into) > 0:
			r = t.last
		case chosen && !t.complement:
			if other, there := t.into[r]; there {
				r = other
			}
		}
		if r == before && (t.squeezed[r] != t.all) {
			continue
		}
		before = r
		if _, err := out.WriteRune(r); err != nil {
			return command.ErrStop
		}
	}
}

// readSet reads a set of characters: ranges, classes, escapes and repeats.
func readSet(text string) ([]rune, error) {
	var set []rune
	for text != "" {
		if end := strings.Index(text, ":]"); strings.HasPrefix(text, "[:") && end > 0 {
			class, err := classRunes(text[2:end])
			if err != nil {
				return nil, err
			}
			set, text = append(set, class...), text[end+2:]
			continue
		}
		if strings.HasPrefix(text, "[=") && len(text) > 4 && strings.HasPrefix(text[3:], "=]") {
			set, text = append(set, rune(text[2])), text[5:]
			continue
		}
		if more, rest, ok := repeated(text); ok {
			set, text = append(set, more...), rest
			continue
		}
		low, rest := setRune(text)
		if strings.HasPrefix(rest, "-") && len(rest) > 1 {
			high, after := setRune(rest[1:])
			if high < low {
				return nil, fmt.Errorf("range-endpoints of '%c-%c' are in reverse collating sequence order", low, high)
			}
			for r := low; r <= high; r++ {
				set = append(set, r)
			}
			text = after
			continue
		}
		set, text = append(set, low), rest
	}
	return set, nil
}

// repeated reads [x*n].
func repeated(text string) (set []rune, rest string, ok bool) {
	if !strings.HasPrefix(text, "[") || len(text) < 4 {
		return nil, "", false
	}
	r, after := setRune(text[1:])
	digits, rest, closed := strings.Cut(strings.TrimPrefix(after, "*"), "]")
	if !closed || !strings.HasPrefix(after, "*") {
		return nil, "", false
	}
	n, err := strconv.Atoi(digits)
	if digits == "" {
		n = 256
	} else if err != nil || n > 1<<16 {
		return nil, "", false
	}
	for range n {
		set = append(set, r)
	}
	return set, rest, true
}

// setRune reads one character of a set.
func setRune(text string) (r rune, rest string) {
	runes := []rune(text[:min(len(text), 8)])
	if runes[0] != '\\' || len(runes) == 1 {
		return runes[0], text[len(string(runes[:1])):]
	}
	if end := 1; runes[1] >= '0' && runes[1] <= '7' {
		for end < len(runes) && end < 4 && runes[end] >= '0' && runes[end] <= '7' {
			end++
		}
		value, _ := strconv.ParseInt(text[1:end], 8, 32)
		return rune(value), text[end:]
	}
	rest = text[1+len(string(runes[1:2])):]
	if at := strings.IndexRune("abfnrtv", runes[1]); at >= 0 {
		return rune("\a\b\f\n\r\t\v"[at]), rest
	}
	return runes[1], rest
}

func classRunes(name string) ([]rune, error) {
	in := map[string]func(r rune) bool{
		"alpha":  isAlpha,
		"digit":  isDigit,
		"alnum":  func(r rune) bool { return isAlpha(r) || isDigit(r) },
		"upper":  func(r rune) bool { return r >= 'A' && r <= 'Z' },
		"lower":  func(r rune) bool { return r >= 'a' && r <= 'z' },
		"space":  func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) },
		"blank":  func(r rune) bool { return r == ' ' || r == '\t' },
		"punct":  func(r rune) bool { return r > 32 && r < 127 && !isAlpha(r) && !isDigit(r) },
		"print":  func(r rune) bool { return r >= 32 && r < 127 },
		"graph":  func(r rune) bool { return r > 32 && r < 127 },
		"cntrl":  func(r rune) bool { return r < 32 || r == 127 },
		"xdigit": func(r rune) bool { return isDigit(r) || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' },
	}[name]
	if in == nil {
		return nil, fmt.Errorf("invalid character class '%s'", name)
	}
	var set []rune
	for r := range rune(128) {
		if in(r) {
			set = append(set, r)
		}
	}
	return set, nil
}

func isAlpha(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
