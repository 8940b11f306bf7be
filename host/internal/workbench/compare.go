package workbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// most differences that are worth showing at once.
const mostDifferences = 20

// comparison collects where an answer differs from what was wanted, one line each.
type comparison struct {
	exact bool // a field that was not wanted is a difference
	lines []string
}

// differences compares JSON with JSON. Objects need the named fields only, unless exact.
func differences(want, got json.RawMessage, exact bool) []string {
	wanted, err := decodeAny(want)
	if err != nil {
		return []string{"what is wanted is no JSON: " + err.Error()}
	}
	have, err := decodeAny(got)
	if err != nil {
		return []string{"the answer is no JSON: " + err.Error()}
	}
	c := &comparison{exact: exact}
	c.value("", wanted, have)
	if extra := len(c.lines) - mostDifferences; extra > 0 {
		c.lines = append(c.lines[:mostDifferences], fmt.Sprintf("and %d differences more", extra))
	}
	return c.lines
}

func decodeAny(text json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

func (c *comparison) value(path string, want, got any) {
	switch wanted := want.(type) {
	case map[string]any:
		if have, ok := got.(map[string]any); ok {
			c.object(path, wanted, have)
			return
		}
	case []any:
		if have, ok := got.([]any); ok && len(have) == len(wanted) {
			for i := range wanted {
				c.value(fmt.Sprintf("%s[%d]", path, i), wanted[i], have[i])
			}
			return
		}
	default:
		if sameScalar(want, got) {
			return
		}
	}
	c.differ(path, show(want), show(got))
}

func (c *comparison) object(path string, want, got map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		have, there := got[name]
		switch {
		case there:
			c.value(within(path, name), want[name], have)
		case want[name] != nil: // null wants the field to be absent or null
			c.differ(within(path, name), show(want[name]), "nothing")
		}
	}
	if !c.exact {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[name]; !wanted {
			c.differ(within(path, name), "nothing", show(got[name]))
		}
	}
}

func (c *comparison) differ(path, want, got string) {
	if path == "" {
		path = "answer"
	}
	c.lines = append(c.lines, fmt.Sprintf("%s: want %s, got %s", path, want, got))
}

func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func sameScalar(want, got any) bool {
	if number, ok := want.(json.Number); ok {
		other, isNumber := got.(json.Number)
		return isNumber && sameNumber(number, other)
	}
	switch got.(type) {
	case map[string]any, []any:
		return false
	}
	return want == got
}

// sameNumber compares by value: 1, 1.0 and 1e0 are one number. Exponents that are too large are compared as text.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	if len(a)+len(b) > 64 || strings.ContainsAny(a.String()+b.String(), "eE") {
		x, errA := a.Float64()
		y, errB := b.Float64()
		return errA == nil && errB == nil && x == y
	}
	x, okA := new(big.Rat).SetString(a.String())
	y, okB := new(big.Rat).SetString(b.String())
	return okA && okB && x.Cmp(y) == 0
}

// show writes a value as JSON of one line.
func show(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return shortened(strings.TrimSuffix(text.String(), "\n"))
}

// shortened cuts the middle out of a long text.
func shortened(text string) string {
	const most = 400 // bytes
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s … %d bytes … %s", strings.ToValidUTF8(text[:most/2], ""), len(text)-most,
		strings.ToValidUTF8(text[len(text)-most/2:], ""))
}

// textDifferences compares two texts line by line. Lines that both begin or end with are left out.
func textDifferences(name string, want, got []byte) []string {
	if bytes.Equal(want, got) {
		return nil
	}
	wanted, have := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	start := 0
	for start < min(len(wanted), len(have)) && wanted[start] == have[start] {
		start++
	}
	tail := 0
	for tail < min(len(wanted), len(have))-start && wanted[len(wanted)-1-tail] == have[len(have)-1-tail] {
		tail++
	}
	lines := []string{fmt.Sprintf("%s differs at line %d:", name, start+1)}
	lines = append(lines, marked("- ", wanted[start:len(wanted)-tail])...)
	return append(lines, marked("+ ", have[start:len(have)-tail])...)
}

func marked(mark string, lines []string) []string {
	var out []string
	for i, line := range lines {
		if i == mostDifferences {
			return append(out, fmt.Sprintf("%sand %d lines more", mark, len(lines)-i))
		}
		out = append(out, mark+shortened(line))
	}
	return out
}
