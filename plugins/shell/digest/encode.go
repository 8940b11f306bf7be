package digest

import (
	"context"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func encode(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "d,decode D i,ignore-garbage w,wrap:")
	if err != nil {
		return c.Usage(err)
	}
	width, err := o.Number("w", 76)
	if err != nil {
		return c.Usage(err)
	}
	toText, toBytes := base64.StdEncoding.EncodeToString, base64.StdEncoding.DecodeString
	if c.Name == "base32" {
		toText, toBytes = base32.StdEncoding.EncodeToString, base32.StdEncoding.DecodeString
	}
	return c.Each(o.Operands, func(_ string, input io.Reader) error {
		data, err := io.ReadAll(input)
		if err != nil {
			return err
		}
		if o.Has("d") || o.Has("D") {
			plain, err := toBytes(strings.NewReplacer("\n", "", "\r", "", " ", "").Replace(string(data)))
			_, _ = c.Out.Write(plain)
			if err != nil {
				return errors.New("invalid input")
			}
			return nil
		}
		text := toText(data)
		if width <= 0 {
			_, _ = c.Out.WriteString(text)
			return nil
		}
		for len(text) > 0 {
			n := min(width, len(text))
			fmt.Fprintln(c.Out, text[:n])
			text = text[n:]
		}
		return nil
	})
}

// window reads the part of an input that is asked for.
func window(c *command.Call, names []string, skip, length int) ([]byte, int) {
	var data []byte
	status := c.Each(names, func(_ string, input io.Reader) error {
		if length >= 0 {
			input = io.LimitReader(input, int64(skip+length))
		}
		more, err := io.ReadAll(input)
		data = append(data, more...)
		return err
	})
	data = data[min(skip, len(data)):]
	if length >= 0 {
		data = data[:min(length, len(data))]
	}
	return data, status
}

func printable(data []byte) string {
	shown := make([]byte, len(data))
	for i, b := range data {
		shown[i] = '.'
		if b >= 32 && b < 127 {
			shown[i] = b
		}
	}
	return string(shown)
}

func xxd(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "p,ps,plain,postscript r,revert l,len: s,seek: c,cols: g,groupsize: u b")
	if err != nil {
		return c.Usage(err)
	}
	numbers := map[string]int{"l": -1, "s": 0, "c": 16, "g": 2}
	for name, usual := range numbers {
		if numbers[name], err = o.Number(name, usual); err != nil {
			return c.Usage(err)
		}
	}
	cols, group := max(1, numbers["c"]), max(1, numbers["g"])
	if o.Has("r") {
		return revert(c, o)
	}
	data, status := window(c, o.Operands, max(0, numbers["s"]), numbers["l"])
	if o.Has("p") {
		text := fmt.Sprintf("%x", data)
		for len(text) > 0 {
			n := min(60, len(text))
			fmt.Fprintln(c.Out, text[:n])
			text = text[n:]
		}
		return status
	}
	form := "%02x"
	if o.Has("u") {
		form = "%02X"
	}
	for at := 0; at < len(data); at += cols {
		row := data[at:min(at+cols, len(data))]
		var b strings.Builder
		for i := range cols {
			if i < len(row) {
				fmt.Fprintf(&b, form, row[i])
			} else {
				b.WriteString("  ")
			}
			if (i+1)%group == 0 {
				b.WriteByte(' ')
			}
		}
		if cols%group != 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(c.Out, "%08x: %s %s\n", at+max(0, numbers["s"]), b.String(), printable(row))
	}
	return status
}

// revert turns a dump back into bytes.
func revert(c *command.Call, o command.Options) int {
	lines, status := c.AllLines(o.Operands, '\n')
	for _, line := range lines {
		if _, body, dumped := strings.Cut(line, ": "); dumped && !o.Has("p") {
			line, _, _ = strings.Cut(body, "  ")
		}
		var raw []byte
		text := strings.ReplaceAll(line, " ", "")
		for ; len(text) >= 2; text = text[2:] {
			var b byte
			if _, err := fmt.Sscanf(text[:2], "%02x", &b); err != nil {
				break
			}
			raw = append(raw, b)
		}
		_, _ = c.Out.Write(raw)
	}
	return status
}

func hexdump(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "C,canonical n,length: s,skip: v,no-squeezing e:")
	if err != nil {
		return c.Usage(err)
	}
	length, err := o.Number("n", -1)
	if err != nil {
		return c.Usage(err)
	}
	skip, err := o.Number("s", 0)
	if err != nil || o.Has("e") {
		return c.Usage(errors.New("only -C, -n and -s are available"))
	}
	data, status := window(c, o.Operands, skip, length)
	canonical := o.Has("C") || c.Name == "hd"
	rows(c, data, o.Has("v"), func(at int, row []byte) string {
		if canonical {
			left := fmt.Sprintf("% x", row[:min(8, len(row))])
			right := fmt.Sprintf("% x", row[min(8, len(row)):])
			return fmt.Sprintf("%08x  %-24s %-24s |%s|", at+skip, left, right, printable(row))
		}
		return fmt.Sprintf("%07x%s", at+skip, words(row, " %04x"))
	})
	if len(data) > 0 {
		form := "%07x\n"
		if canonical {
			form = "%08x\n"
		}
		fmt.Fprintf(c.Out, form, skip+len(data))
	}
	return status
}

// rows writes 16 bytes a line, and * for lines that repeat.
func rows(c *command.Call, data []byte, all bool, line func(at int, row []byte) string) {
	starred := false
	for at := 0; at < len(data); at += 16 {
		row := data[at:min(at+16, len(data))]
		if at > 0 && !all && len(row) == 16 && string(row) == string(data[at-16:at]) {
			if !starred {
				fmt.Fprintln(c.Out, "*")
			}
			starred = true
			continue
		}
		starred = false
		fmt.Fprintln(c.Out, line(at, row))
	}
}

// words shows pairs of bytes as numbers, the first byte being the low one.
func words(row []byte, form string) string {
	var b strings.Builder
	for i := 0; i < len(row); i += 2 {
		value := int(row[i])
		if i+1 < len(row) {
			value |= int(row[i+1]) << 8
		}
		fmt.Fprintf(&b, form, value)
	}
	return b.String()
}

func od(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "A,address-radix: t,format: N,read-bytes: j,skip-bytes: v c b x d o w?")
	if err != nil {
		return c.Usage(err)
	}
	length, err := o.Number("N", -1)
	if err != nil {
		return c.Usage(err)
	}
	skip, err := o.Number("j", 0)
	if err != nil {
		return c.Usage(err)
	}
	data, status := window(c, o.Operands, skip, length)
	address := map[string]string{"d": "%07d", "o": "%07o", "x": "%06x", "n": ""}[o.Value("A", "o")]
	show := odForm(o.Value("t", o.Last("c", "b", "x", "d", "o")))
	if show == nil {
		return c.Usage(fmt.Errorf("the format %q is not available", o.Value("t", "")))
	}
	label := func(at int) string {
		if address == "" {
			return ""
		}
		return fmt.Sprintf(address, at+skip)
	}
	rows(c, data, o.Has("v"), func(at int, row []byte) string { return label(at) + show(row) })
	if address != "" {
		fmt.Fprintln(c.Out, label(len(data)))
	}
	return status
}

func odForm(name string) func([]byte) string {
	each := func(form string) func([]byte) string {
		return func(row []byte) string {
			var b strings.Builder
			for _, one := range row {
				fmt.Fprintf(&b, form, one)
			}
			return b.String()
		}
	}
	switch name {
	case "", "o", "o2":
		return func(row []byte) string { return words(row, " %06o") }
	case "x", "x2":
		return func(row []byte) string { return words(row, " %04x") }
	case "d", "d2", "u2":
		return func(row []byte) string { return words(row, " %5d") }
	case "x1":
		return each(" %02x")
	case "o1", "b":
		return each(" %03o")
	case "u1", "d1":
		return each(" %3d")
	case "c":
		return func(row []byte) string {
			var b strings.Builder
			for _, one := range row {
				b.WriteString(odChar(one))
			}
			return b.String()
		}
	}
	return nil
}

func odChar(b byte) string {
	if at := strings.IndexByte("\x00\a\b\t\n\v\f\r", b); at >= 0 {
		return `  \` + string("0abtnvfr"[at])
	}
	if b >= 32 && b < 127 {
		return "   " + string(rune(b))
	}
	return fmt.Sprintf(" %03o", b)
}
