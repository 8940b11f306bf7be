package text

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func uniq(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "c,count d,repeated D,all-repeated u,unique i,ignore-case f,skip-fields: s,skip-chars: w,check-chars: z")
	if err != nil {
		return c.Usage(err)
	}
	fields, err := o.Number("f", 0)
	if err != nil {
		return c.Usage(err)
	}
	skip, err := o.Number("s", 0)
	if err != nil {
		return c.Usage(err)
	}
	width, err := o.Number("w", -1)
	if err != nil {
		return c.Usage(err)
	}
	key := func(line string) string {
		for range fields {
			line = afterField(strings.TrimLeft(line, " \t"))
		}
		line = line[min(skip, len(line)):]
		if width >= 0 {
			line = line[:min(width, len(line))]
		}
		if o.Has("i") {
			line = strings.ToLower(line)
		}
		return line
	}
	inputs := o.Operands
	if len(inputs) > 1 {
		inputs = inputs[:1]
	}
	lines, status := c.AllLines(inputs, '\n')
	var out io.Writer = c.Out
	if len(o.Operands) > 1 {
		file, err := c.Create(o.Operands[1])
		if err != nil {
			return c.Trouble(o.Operands[1], err)
		}
		defer file.Close()
		out = file
	}
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && key(lines[end]) == key(lines[start]) {
			end++
		}
		showGroup(out, o, lines[start:end])
		start = end
	}
	return status
}

// afterField returns what follows the field at the start of a line.
func afterField(line string) string {
	if at := strings.IndexAny(line, " \t"); at >= 0 {
		return line[at:]
	}
	return ""
}

func showGroup(out io.Writer, o command.Options, group []string) {
	switch {
	case o.Has("d") && len(group) == 1, o.Has("D") && len(group) == 1, o.Has("u") && len(group) > 1:
		return
	case o.Has("D"):
		for _, line := range group {
			fmt.Fprintln(out, line)
		}
		return
	case o.Has("c"):
		fmt.Fprintf(out, "%7d %s\n", len(group), group[0])
		return
	}
	fmt.Fprintln(out, group[0])
}

func comm(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "1 2 3 i ,check-order ,nocheck-order ,output-delimiter: ,total")
	if err != nil {
		return c.Usage(err)
	}
	if len(o.Operands) != 2 {
		return c.Usage(fmt.Errorf("two files are needed"))
	}
	left, failed := c.AllLines(o.Operands[:1], '\n')
	right, failedToo := c.AllLines(o.Operands[1:], '\n')
	if failed+failedToo > 0 {
		return 1
	}
	delimiter := o.Value("output-delimiter", "\t")
	show := func(columnNumber int, line string) {
		if o.Has(fmt.Sprint(columnNumber)) {
			return
		}
		for before := 1; before < columnNumber; before++ {
			if !o.Has(fmt.Sprint(before)) {
				_, _ = c.Out.WriteString(delimiter)
			}
		}
		fmt.Fprintln(c.Out, line)
	}
	for len(left) > 0 || len(right) > 0 {
		switch {
		case len(right) == 0 || len(left) > 0 && left[0] < right[0]:
			show(1, left[0])
			left = left[1:]
		case len(left) == 0 || left[0] > right[0]:
			show(2, right[0])
			right = right[1:]
		default:
			show(3, left[0])
			left, right = left[1:], right[1:]
		}
	}
	return 0
}
