package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// counts is what wc counts.
type counts struct{ lines, words, chars, bytes, longest int64 }

func wc(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "l,lines w,words c,bytes m,chars L,max-line-length")
	if err != nil {
		return c.Usage(err)
	}
	var rows []counts
	var names []string
	status := c.Each(o.Operands, func(name string, input io.Reader) error {
		found, err := count(input)
		rows, names = append(rows, found), append(names, name)
		return err
	})
	if len(o.Operands) == 0 {
		names = []string{""}
	}
	width := 1
	var total counts
	for _, row := range rows {
		total = counts{
			total.lines + row.lines, total.words + row.words, total.chars + row.chars, total.bytes + row.bytes,
			max(total.longest, row.longest),
		}
	}
	shown := selected(o, total)
	if len(shown) > 1 || len(o.Operands) > 1 {
		for _, number := range append(shown, total.bytes) {
			width = max(width, len(fmt.Sprint(number)))
		}
		if len(o.Operands) == 0 || names[0] == "-" {
			width = 7
		}
	}
	if len(o.Operands) > 1 {
		rows, names = append(rows, total), append(names, "total")
	}
	for i, row := range rows {
		var cells []string
		for _, number := range selected(o, row) {
			cells = append(cells, fmt.Sprintf("%*d", width, number))
		}
		if names[i] != "" {
			cells = append(cells, names[i])
		}
		fmt.Fprintln(c.Out, strings.Join(cells, " "))
	}
	return status
}

func selected(o command.Options, row counts) []int64 {
	if o.Last("l", "w", "c", "m", "L") == "" {
		return []int64{row.lines, row.words, row.bytes}
	}
	var numbers []int64
	for _, pair := range []struct {
		option string
		number int64
	}{{"l", row.lines}, {"w", row.words}, {"m", row.chars}, {"c", row.bytes}, {"L", row.longest}} {
		if o.Has(pair.option) {
			numbers = append(numbers, pair.number)
		}
	}
	return numbers
}

func count(input io.Reader) (counts, error) {
	var found counts
	for line, err := range command.Lines(input, '\n') {
		if err != nil {
			return found, err
		}
		found.words += int64(len(strings.Fields(line.Text)))
		found.bytes += int64(len(line.Text))
		found.chars += int64(utf8.RuneCountInString(line.Text))
		found.longest = max(found.longest, int64(utf8.RuneCountInString(line.Text)))
		if !line.Cut {
			found.lines, found.bytes, found.chars = found.lines+1, found.bytes+1, found.chars+1
		}
	}
	return found, nil
}

func fold(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "w,width: s,spaces b,bytes")
	if err != nil {
		return c.Usage(err)
	}
	width, err := o.Number("w", 80)
	if err == nil && width < 1 {
		err = errors.New("the width must be at least 1")
	}
	if err != nil {
		return c.Usage(err)
	}
	return eachLine(c, o.Operands, func(text string) string {
		var b strings.Builder
		for utf8.RuneCountInString(text) > width {
			runes := []rune(text)
			part := string(runes[:width])
			if at := strings.LastIndexAny(part, " \t"); o.Has("s") && at >= 0 {
				part = part[:at+1]
			}
			b.WriteString(part + "\n")
			text = text[len(part):]
		}
		return b.String() + text
	})
}

func expand(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "t,tabs: i,initial")
	if err != nil {
		return c.Usage(err)
	}
	width, err := o.Number("t", 8)
	if err != nil || width < 1 {
		return c.Usage(errors.New("tab size must be a number above 0"))
	}
	return eachLine(c, o.Operands, func(text string) string {
		var b strings.Builder
		at := 0
		for _, r := range text {
			if r != '\t' {
				b.WriteRune(r)
				at++
				continue
			}
			for ok := true; ok; ok = at%width != 0 {
				b.WriteByte(' ')
				at++
			}
		}
		return b.String()
	})
}

func unexpand(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "a,all t,tabs: ,first-only")
	if err != nil {
		return c.Usage(err)
	}
	width, err := o.Number("t", 8)
	if err != nil || width < 1 {
		return c.Usage(errors.New("tab size must be a number above 0"))
	}
	return eachLine(c, o.Operands, func(text string) string {
		bare := strings.TrimLeft(text, " ")
		spaces := len(text) - len(bare)
		return strings.Repeat("\t", spaces/width) + strings.Repeat(" ", spaces%width) + bare
	})
}
