package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func split(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "l,lines: b,bytes: n,number: a,suffix-length: d,numeric-suffixes ,additional-suffix: ,verbose e")
	if err != nil {
		return c.Usage(err)
	}
	names := append(append([]string{}, o.Operands...), "-", "x")
	if len(o.Operands) == 1 {
		names = []string{o.Operands[0], "x"}
	}
	if len(o.Operands) == 0 {
		names = []string{"-", "x"}
	}
	input, err := c.Open(names[0])
	if err != nil {
		return c.Trouble(names[0], err)
	}
	defer input.Close()
	data, err := io.ReadAll(input)
	if err != nil {
		return c.Trouble(names[0], err)
	}
	pieces, err := pieces(o, data)
	if err != nil {
		return c.Usage(err)
	}
	length, err := o.Number("a", 2)
	if err != nil {
		return c.Usage(err)
	}
	for i, piece := range pieces {
		suffix, ok := suffixOf(i, length, o.Has("d"))
		if !ok {
			return c.Fail("output file suffixes exhausted")
		}
		name := names[1] + suffix + o.Value("additional-suffix", "")
		if err := c.Disk.WriteFile(c.Path(name), piece, 0o644); err != nil {
			return c.Trouble(name, err)
		}
	}
	return 0
}

func pieces(o command.Options, data []byte) ([][]byte, error) {
	var all [][]byte
	switch o.Last("b", "n", "l") {
	case "b":
		size, err := command.Size(o.Value("b", ""))
		if err != nil || size < 1 {
			return nil, errors.New("invalid number of bytes")
		}
		for len(data) > 0 {
			n := min(int(size), len(data))
			all, data = append(all, data[:n]), data[n:]
		}
		return all, nil
	case "n":
		return parts(o.Value("n", ""), data)
	}
	count, err := o.Number("l", 1000)
	if err != nil || count < 1 {
		return nil, errors.New("invalid number of lines")
	}
	for len(data) > 0 {
		end := 0
		for n := 0; n < count && end < len(data); n++ {
			next := bytes.IndexByte(data[end:], '\n')
			if next < 0 {
				end = len(data)
				break
			}
			end += next + 1
		}
		all, data = append(all, data[:end]), data[end:]
	}
	return all, nil
}

// parts cuts data into n parts of the same size, l/n at line ends.
func parts(text string, data []byte) ([][]byte, error) {
	lines := strings.HasPrefix(text, "l/")
	n, err := strconv.Atoi(strings.TrimPrefix(text, "l/"))
	if err != nil || n < 1 || n > 10_000 {
		return nil, fmt.Errorf("invalid number of chunks: '%s'", text)
	}
	all := make([][]byte, 0, n)
	size, at := len(data)/n, 0
	for i := range n {
		end := (i + 1) * size
		if i == n-1 {
			end = len(data)
		}
		if lines && end > at && end < len(data) {
			if next := bytes.IndexByte(data[end-1:], '\n'); next >= 0 {
				end += next
			} else {
				end = len(data)
			}
		}
		end = max(end, at)
		all = append(all, data[at:end])
		at = end
	}
	return all, nil
}

func suffixOf(index, length int, digits bool) (string, bool) {
	alphabet := "abcdefghijklmnopqrstuvwxyz"
	if digits {
		alphabet = "0123456789"
	}
	suffix := make([]byte, max(length, 1))
	for at := len(suffix) - 1; at >= 0; at-- {
		suffix[at] = alphabet[index%len(alphabet)]
		index /= len(alphabet)
	}
	return string(suffix), index == 0
}
