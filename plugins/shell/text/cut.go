package text

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// ranges says which positions are chosen, counted from 1.
type ranges [][2]int

func readRanges(text string) (ranges, error) {
	var chosen ranges
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		from, to, ranged := strings.Cut(part, "-")
		low, high := 1, math.MaxInt
		var err error
		if from != "" {
			low, err = strconv.Atoi(from)
		}
		if !ranged {
			high = low
		} else if to != "" && err == nil {
			high, err = strconv.Atoi(to)
		}
		if err != nil || low < 1 || high < low || part == "-" {
			return nil, fmt.Errorf("invalid range '%s'", part)
		}
		chosen = append(chosen, [2]int{low, high})
	}
	if len(chosen) == 0 {
		return nil, errors.New("a list of positions is needed")
	}
	return chosen, nil
}

func (r ranges) has(position int) bool {
	for _, one := range r {
		if position >= one[0] && position <= one[1] {
			return true
		}
	}
	return false
}

func cut(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "f,fields: c,characters: b,bytes: d,delimiter: s,only-delimited n ,output-delimiter: ,complement z")
	if err != nil {
		return c.Usage(err)
	}
	kind := o.Last("f", "c", "b")
	if kind == "" {
		return c.Usage(errors.New("you must specify a list of bytes, characters, or fields"))
	}
	chosen, err := readRanges(o.Value(kind, ""))
	if err != nil {
		return c.Usage(err)
	}
	delimiter := o.Value("d", "\t")
	if len([]rune(delimiter)) > 1 {
		return c.Usage(errors.New("the delimiter must be a single character"))
	}
	k := cutter{chosen: chosen, delimiter: delimiter, output: o.Value("output-delimiter", delimiter), complement: o.Has("complement")}
	if kind != "f" {
		k.output = o.Value("output-delimiter", "")
		return eachLine(c, o.Operands, func(line string) string {
			if kind == "b" {
				return k.join(strings.Split(latin(line), ""), true)
			}
			return k.join(strings.Split(line, ""), false)
		})
	}
	lines, status := c.AllLines(o.Operands, '\n')
	for _, line := range lines {
		if !strings.Contains(line, delimiter) {
			if o.Has("s") {
				continue
			}
		} else {
			line = k.join(strings.Split(line, delimiter), false)
		}
		if c.Print(line, '\n') != nil {
			break
		}
	}
	return status
}

// latin turns every byte into a character of its own.
func latin(line string) string {
	runes := make([]rune, len(line))
	for i := range len(line) {
		runes[i] = rune(line[i])
	}
	return string(runes)
}

// cutter keeps chosen parts of a line.
type cutter struct {
	chosen            ranges
	delimiter, output string
	complement        bool
}

func (k cutter) join(parts []string, bytes bool) string {
	var kept []string
	for i, part := range parts {
		if k.chosen.has(i+1) != k.complement {
			kept = append(kept, part)
		}
	}
	joined := strings.Join(kept, k.output)
	if !bytes {
		return joined
	}
	raw := make([]byte, 0, len(joined))
	for _, r := range joined {
		raw = append(raw, byte(r))
	}
	return string(raw)
}

func paste(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "d,delimiters: s,serial z")
	if err != nil {
		return c.Usage(err)
	}
	delimiters := []rune(unescape(o.Value("d", "\t")))
	if len(delimiters) == 0 {
		delimiters = []rune{0}
	}
	var columns [][]string
	status := 0
	names := orStdin(o.Operands)
	stdins := 0
	for _, name := range names {
		if name == "-" {
			stdins++
		}
	}
	var shared []string
	if stdins > 1 {
		shared, _ = c.AllLines([]string{"-"}, '\n')
	}
	turn := 0
	for _, name := range names {
		if name == "-" && stdins > 1 && !o.Has("s") {
			columns = append(columns, every(shared, turn, stdins))
			turn++
			continue
		}
		lines, failed := c.AllLines([]string{name}, '\n')
		status = max(status, failed)
		columns = append(columns, lines)
	}
	if o.Has("s") {
		for _, lines := range columns {
			printAll(c, []string{pasted(lines, delimiters)})
		}
		return status
	}
	for row := 0; ; row++ {
		cells, any := make([]string, len(columns)), false
		for i, lines := range columns {
			if row < len(lines) {
				cells[i], any = lines[row], true
			}
		}
		if !any || c.Print(pasted(cells, delimiters), '\n') != nil {
			return status
		}
	}
}

// every returns the lines at from, from+step and so on.
func every(lines []string, from, step int) []string {
	var some []string
	for i := from; i < len(lines); i += step {
		some = append(some, lines[i])
	}
	return some
}

func pasted(cells []string, delimiters []rune) string {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			if d := delimiters[(i-1)%len(delimiters)]; d != 0 {
				b.WriteRune(d)
			}
		}
		b.WriteString(cell)
	}
	return b.String()
}

// unescape reads \n, \t, \\ and \0.
func unescape(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`, `\0`, "\x00").Replace(text)
}
