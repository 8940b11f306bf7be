package text

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

const (
	truncated = os.O_TRUNC
	appended  = os.O_APPEND
)

// amount is how much head and tail show.
type amount struct {
	bytes   bool
	count   int64
	reverse bool // all but the last count (head), or from the count-th on (tail)
}

func readAmount(c *command.Call, spec string) (command.Options, amount, error) {
	args := c.Args
	if len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+' && c.Name == "tail") {
		if _, err := strconv.Atoi(args[0][1:]); err == nil { // -5, the old way
			args = append([]string{"-n", strings.TrimPrefix(args[0], "-")}, args[1:]...)
		}
	}
	o, err := command.Parse(args, spec)
	if err != nil {
		return o, amount{}, err
	}
	a := amount{count: 10}
	text := ""
	switch o.Last("n", "c") {
	case "n":
		text = o.Value("n", "")
	case "c":
		text, a.bytes = o.Value("c", ""), true
	default:
		return o, a, nil
	}
	sign := byte(0)
	if text != "" && (text[0] == '-' || text[0] == '+') {
		sign, text = text[0], text[1:]
	}
	a.reverse = c.Name == "head" && sign == '-' || c.Name == "tail" && sign == '+'
	a.count, err = command.Size(text)
	return o, a, err
}

const amountOptions = "n,lines: c,bytes: q,quiet,silent v,verbose z,zero-terminated f,follow F retry s: pid:"

func head(_ context.Context, c *command.Call) int {
	o, a, err := readAmount(c, amountOptions)
	if err != nil {
		return c.Usage(err)
	}
	return withTitles(c, o, func(input io.Reader) error { return a.head(c, input) })
}

func withTitles(c *command.Call, o command.Options, show func(io.Reader) error) int {
	titled := (len(o.Operands) > 1 || o.Has("v")) && !o.Has("q")
	first := true
	return c.Each(o.Operands, func(name string, input io.Reader) error {
		if titled {
			if name == "-" {
				name = "standard input"
			}
			if !first {
				fmt.Fprintln(c.Out)
			}
			fmt.Fprintf(c.Out, "==> %s <==\n", name)
		}
		first = false
		return show(input)
	})
}

func (a amount) head(c *command.Call, input io.Reader) error {
	switch {
	case a.reverse:
		return a.allButLast(c, input)
	case a.bytes:
		_, err := io.Copy(c.Out, io.LimitReader(input, a.count))
		return err
	}
	// One byte at a time from a pipe would be needed to leave the rest to others; nobody counts on that here.
	reader := bufio.NewReader(input)
	for n := int64(0); n < a.count; n++ {
		line, err := reader.ReadString('\n')
		if _, failed := c.Out.WriteString(line); failed != nil {
			return command.ErrStop
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a amount) allButLast(c *command.Call, input io.Reader) error {
	data, err := io.ReadAll(input)
	if err != nil {
		return err
	}
	if !a.bytes {
		_, err = c.Out.Write(data[:lastLines(data, a.count)])
		return err
	}
	_, err = c.Out.Write(data[:max(0, int64(len(data))-a.count)])
	return err
}

// lastLines returns where the last n lines begin.
func lastLines(data []byte, n int64) int {
	at := len(data)
	if at > 0 && data[at-1] == '\n' {
		at--
	}
	for ; n > 0; n-- {
		end := bytes.LastIndexByte(data[:at], '\n')
		if end < 0 {
			return 0
		}
		at = end
	}
	return min(at+1, len(data))
}

func tail(_ context.Context, c *command.Call) int {
	o, a, err := readAmount(c, amountOptions)
	if err != nil {
		return c.Usage(err)
	}
	if o.Has("f") || o.Has("F") {
		return c.Fail("-f is not available: nothing else writes files while a command of this sandbox runs")
	}
	return withTitles(c, o, func(input io.Reader) error { return a.tail(c, input) })
}

func (a amount) tail(c *command.Call, input io.Reader) error {
	data, err := io.ReadAll(input)
	if err != nil {
		return err
	}
	switch {
	case a.bytes && a.reverse:
		data = data[min(int64(len(data)), max(0, a.count-1)):]
	case a.bytes:
		data = data[max(0, int64(len(data))-a.count):]
	case a.reverse:
		data = fromLine(data, a.count)
	case a.count == 0:
		data = nil
	default:
		data = data[lastLines(data, a.count):]
	}
	_, err = c.Out.Write(data)
	return err
}

func fromLine(data []byte, n int64) []byte {
	for ; n > 1; n-- {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return nil
		}
		data = data[end+1:]
	}
	return data
}
