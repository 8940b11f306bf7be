package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// joiner is one call of join.
type joiner struct {
	separator string
	keys      [2]int
	unpaired  [2]bool
	hidden    bool     // paired lines are not shown
	form      []string // of -o
	empty     string
}

func join(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "1: 2: j: t: a: v: o: e: i,ignore-case ,check-order ,nocheck-order ,header")
	if err != nil {
		return c.Usage(err)
	}
	if len(o.Operands) != 2 {
		return c.Usage(errors.New("two files are needed"))
	}
	j := joiner{separator: o.Value("t", ""), empty: o.Value("e", ""), hidden: o.Has("v")}
	for side := range 2 {
		key, err := strconv.Atoi(o.Value(strconv.Itoa(side+1), o.Value("j", "1")))
		if err != nil || key < 1 {
			return c.Usage(errors.New("invalid field number"))
		}
		j.keys[side] = key - 1
	}
	for _, side := range append(o.Values("a"), o.Values("v")...) {
		if side != "1" && side != "2" {
			return c.Usage(fmt.Errorf("invalid file number '%s'", side))
		}
		j.unpaired[side[0]-'1'] = true
	}
	j.form = strings.FieldsFunc(o.Value("o", ""), func(r rune) bool { return r == ',' || r == ' ' })
	left, failed := c.AllLines(o.Operands[:1], '\n')
	right, failedToo := c.AllLines(o.Operands[1:], '\n')
	if failed+failedToo > 0 {
		return 1
	}
	printAll(c, j.lines(j.split(left), j.split(right)))
	return 0
}

func (j joiner) split(lines []string) [][]string {
	rows := make([][]string, len(lines))
	for i, line := range lines {
		if j.separator == "" {
			rows[i] = strings.Fields(line)
		} else {
			rows[i] = strings.Split(line, j.separator)
		}
	}
	return rows
}

func (j joiner) key(row []string, side int) string {
	if j.keys[side] < len(row) {
		return row[j.keys[side]]
	}
	return ""
}

// lines merges two files that are in order of their keys.
func (j joiner) lines(left, right [][]string) []string {
	var lines []string
	for len(left) > 0 || len(right) > 0 {
		order := 0
		switch {
		case len(right) == 0:
			order = -1
		case len(left) == 0:
			order = 1
		default:
			order = strings.Compare(j.key(left[0], 0), j.key(right[0], 1))
		}
		switch {
		case order < 0:
			if j.unpaired[0] {
				lines = append(lines, j.line(left[0], nil))
			}
			left = left[1:]
		case order > 0:
			if j.unpaired[1] {
				lines = append(lines, j.line(nil, right[0]))
			}
			right = right[1:]
		default:
			same := j.run(left, 0)
			sameRight := j.run(right, 1)
			lines = append(lines, j.paired(left[:same], right[:sameRight])...)
			left, right = left[same:], right[sameRight:]
		}
	}
	return lines
}

// paired joins every row of one side with every row of the other.
func (j joiner) paired(left, right [][]string) []string {
	var lines []string
	for _, a := range left {
		for _, b := range right {
			if !j.hidden {
				lines = append(lines, j.line(a, b))
			}
		}
	}
	return lines
}

// run counts the rows at the start that have the same key.
func (j joiner) run(rows [][]string, side int) int {
	n := 1
	for n < len(rows) && j.key(rows[n], side) == j.key(rows[0], side) {
		n++
	}
	return n
}

func (j joiner) line(left, right []string) string {
	separator := j.separator
	if separator == "" {
		separator = " "
	}
	rows := [2][]string{left, right}
	key := j.key(left, 0)
	if left == nil {
		key = j.key(right, 1)
	}
	var cells []string
	for _, entry := range j.form {
		side, field, dotted := strings.Cut(entry, ".")
		number, err := strconv.Atoi(field)
		switch {
		case entry == "0":
			cells = append(cells, key)
		case dotted && err == nil && (side == "1" || side == "2") && number >= 1 && number <= len(rows[side[0]-'1']):
			cells = append(cells, rows[side[0]-'1'][number-1])
		default:
			cells = append(cells, j.empty)
		}
	}
	if len(j.form) == 0 {
		cells = append(cells, key)
		for side, row := range rows {
			if at := j.keys[side]; at < len(row) {
				row = append(append([]string{}, row[:at]...), row[at+1:]...)
			}
			cells = append(cells, row...)
		}
	}
	return strings.Join(cells, separator)
}

func column(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "t,table s,separator: o,output-separator: n c: x J N: R:")
	if err != nil {
		return c.Usage(err)
	}
	lines, status := c.AllLines(o.Operands, '\n')
	if !o.Has("t") {
		printAll(c, lines)
		return status
	}
	var rows [][]string
	var widths []int
	for _, line := range lines {
		row := strings.Fields(line)
		if set := o.Value("s", ""); set != "" {
			row = strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(set, r) })
			if len([]rune(set)) == 1 {
				row = strings.Split(line, set)
			}
		}
		rows = append(rows, row)
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	between := o.Value("o", "  ")
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + between)
			}
		}
		printAll(c, []string{b.String()})
	}
	return status
}

func shuf(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "n,head-count: e,echo i,input-range: r,repeat z ,random-source: o:")
	if err != nil {
		return c.Usage(err)
	}
	lines := o.Operands
	switch {
	case o.Has("i"):
		from, to, _ := strings.Cut(o.Value("i", ""), "-")
		low, errLow := strconv.Atoi(from)
		high, errHigh := strconv.Atoi(to)
		if errors.Join(errLow, errHigh) != nil || high-low > 1_000_000 {
			return c.Usage(errors.New("invalid input range"))
		}
		lines = nil
		for n := low; n <= high; n++ {
			lines = append(lines, strconv.Itoa(n))
		}
	case !o.Has("e"):
		var status int
		if lines, status = c.AllLines(o.Operands, '\n'); status != 0 {
			return status
		}
	}
	rand.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
	n, err := o.Number("n", len(lines))
	if err != nil {
		return c.Usage(err)
	}
	printAll(c, lines[:min(max(n, 0), len(lines))])
	return 0
}

func printable(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "n,bytes: a,all t: f")
	if err != nil {
		return c.Usage(err)
	}
	least, err := o.Number("n", 4)
	if err != nil {
		return c.Usage(err)
	}
	return c.Each(o.Operands, func(_ string, input io.Reader) error {
		data, err := io.ReadAll(input)
		if err != nil {
			return err
		}
		for _, run := range strings.FieldsFunc(latin(string(data)), func(r rune) bool { return r != '\t' && (r < 32 || r > 126) }) {
			if len(run) >= least {
				printAll(c, []string{run})
			}
		}
		return nil
	})
}
