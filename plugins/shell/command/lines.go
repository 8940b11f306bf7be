package command

import (
	"bufio"
	"errors"
	"io"
	"iter"
)

// Line is one line of an input.
type Line struct {
	Text string // without its end
	Cut  bool   // the input ended without a line end
}

// Lines yields the lines of an input with their ends taken off, then the error that ended the input, if one did.
func Lines(input io.Reader, end byte) iter.Seq2[Line, error] {
	reader := bufio.NewReaderSize(input, 64<<10)
	return func(yield func(Line, error) bool) {
		for {
			text, err := reader.ReadString(end)
			if err == nil {
				if !yield(Line{Text: text[:len(text)-1]}, nil) {
					return
				}
				continue
			}
			if text != "" && !yield(Line{Text: text, Cut: true}, nil) {
				return
			}
			if !errors.Is(err, io.EOF) {
				yield(Line{}, err)
			}
			return
		}
	}
}

// AllLines reads the lines of all named inputs.
func (c *Call) AllLines(names []string, end byte) (lines []string, status int) {
	status = c.Each(names, func(_ string, input io.Reader) error {
		for line, err := range Lines(input, end) {
			if err != nil {
				return err
			}
			lines = append(lines, line.Text)
		}
		return nil
	})
	return lines, status
}

// Print writes one line, and says ErrStop when nobody reads any more.
func (c *Call) Print(text string, end byte) error {
	_, _ = c.Out.WriteString(text)
	if err := c.Out.WriteByte(end); err != nil {
		return ErrStop
	}
	return nil
}
