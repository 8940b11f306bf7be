package text

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func cat(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "n,number b,number-nonblank s,squeeze-blank A,show-all E,show-ends T,show-tabs v,show-nonprinting e t u R F X")
	if err != nil {
		return c.Usage(err)
	}
	show := shower{
		ends: o.Has("E") || o.Has("A") || o.Has("e"), tabs: o.Has("T") || o.Has("A") || o.Has("t"),
		odd:    o.Has("v") || o.Has("A") || o.Has("e") || o.Has("t"),
		number: o.Has("n"), numberFull: o.Has("b"), squeeze: o.Has("s"),
	}
	if show == (shower{}) {
		return c.Each(o.Operands, func(_ string, input io.Reader) error { return copyOut(c, input) })
	}
	return c.Each(o.Operands, func(_ string, input io.Reader) error {
		for line, err := range command.Lines(input, '\n') {
			if err != nil {
				return err
			}
			if err := show.line(c, line); err != nil {
				return err
			}
		}
		return nil
	})
}

func copyOut(c *command.Call, input io.Reader) error {
	buffer := make([]byte, 32<<10)
	for {
		n, err := input.Read(buffer)
		if _, failed := c.Out.Write(buffer[:n]); failed != nil {
			return command.ErrStop
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// shower writes lines the way cat's options say.
type shower struct {
	ends, tabs, odd, number, numberFull, squeeze bool

	count int
	empty bool // the last line was
}

func (s *shower) line(c *command.Call, line command.Line) error {
	if s.squeeze && line.Text == "" && s.empty {
		return nil
	}
	s.empty = line.Text == ""
	text := line.Text
	if s.odd {
		text = caret(text)
	}
	if s.tabs {
		text = strings.ReplaceAll(text, "\t", "^I")
	}
	if s.number && !s.numberFull || s.numberFull && line.Text != "" {
		s.count++
		text = fmt.Sprintf("%6d\t%s", s.count, text)
	}
	if line.Cut {
		_, err := c.Out.WriteString(text)
		return err
	}
	if s.ends {
		text += "$"
	}
	return c.Print(text, '\n')
}

// caret writes bytes that are not printable as ^X and M-X.
func caret(text string) string {
	var b strings.Builder
	for i := range len(text) {
		ch := text[i]
		if ch >= 128 {
			b.WriteString("M-")
			ch -= 128
		}
		switch {
		case ch == '\t' && text[i] < 128:
			b.WriteByte('\t')
		case ch < 32:
			b.WriteString("^" + string(rune(ch+64)))
		case ch == 127:
			b.WriteString("^?")
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}

func tac(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "")
	if err != nil {
		return c.Usage(err)
	}
	status := 0
	for _, name := range orStdin(o.Operands) {
		lines, failed := c.AllLines([]string{name}, '\n')
		status = max(status, failed)
		slices.Reverse(lines)
		printAll(c, lines)
	}
	return status
}

func orStdin(names []string) []string {
	if len(names) == 0 {
		return []string{"-"}
	}
	return names
}

func printAll(c *command.Call, lines []string) {
	for _, line := range lines {
		if c.Print(line, '\n') != nil {
			return
		}
	}
}

func rev(_ context.Context, c *command.Call) int {
	return eachLine(c, c.Args, func(text string) string {
		runes := []rune(text)
		slices.Reverse(runes)
		return string(runes)
	})
}

// eachLine writes every line as change makes it, with the end it had.
func eachLine(c *command.Call, names []string, change func(string) string) int {
	return c.Each(names, func(_ string, input io.Reader) error {
		for line, err := range command.Lines(input, '\n') {
			if err != nil {
				return err
			}
			if line.Cut {
				_, err := c.Out.WriteString(change(line.Text))
				return err
			}
			if err := c.Print(change(line.Text), '\n'); err != nil {
				return err
			}
		}
		return nil
	})
}

func nl(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "b,body-numbering: w,number-width: s,number-separator: v,starting-line-number: i,line-increment: n,number-format: h: f: p")
	if err != nil {
		return c.Usage(err)
	}
	width, err := o.Number("w", 6)
	if err != nil {
		return c.Usage(err)
	}
	start, err := o.Number("v", 1)
	if err != nil {
		return c.Usage(err)
	}
	step, err := o.Number("i", 1)
	if err != nil {
		return c.Usage(err)
	}
	form := map[string]string{"ln": "%-*d", "rn": "%*d", "rz": "%0*d"}[o.Value("n", "rn")]
	if form == "" {
		return c.Usage(fmt.Errorf("invalid line numbering format: '%s'", o.Value("n", "")))
	}
	all, number := o.Value("b", "t") == "a", start
	return eachLine(c, o.Operands, func(text string) string {
		if text == "" && !all || o.Value("b", "") == "n" {
			return strings.Repeat(" ", width+len(o.Value("s", "\t"))) + text
		}
		numbered := fmt.Sprintf(form, width, number) + o.Value("s", "\t") + text
		number += step
		return numbered
	})
}

func tee(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "a,append i,ignore-interrupts p")
	if err != nil {
		return c.Usage(err)
	}
	flag := truncated
	if o.Has("a") {
		flag = appended
	}
	status := 0
	outputs := []io.Writer{c.Out}
	for _, name := range o.Operands {
		file, err := c.Append(name, flag)
		if err != nil {
			status = c.Trouble(name, err)
			continue
		}
		defer file.Close()
		outputs = append(outputs, file)
	}
	if _, err := io.Copy(io.MultiWriter(outputs...), c.In); err != nil {
		return c.Fail("%s", command.Reason(err))
	}
	return status
}
