package sundry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// printf formats its arguments, again and again while there are more.
func printf(_ context.Context, c *command.Call) int {
	args := c.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return c.Usage(errors.New("usage: printf format [arguments]"))
	}
	text, problems := Format(args[0], args[1:])
	_, _ = c.Out.WriteString(text)
	status := 0
	for _, problem := range problems {
		status = c.Fail("%s", problem)
	}
	return status
}

// Format writes arguments as printf's format says, and what was wrong with them.
func Format(format string, args []string) (text string, problems []string) {
	f := &formatter{args: args}
	for {
		used := f.used
		f.once(format)
		if f.stop || f.used == used || f.used >= len(args) {
			return f.out.String(), f.problems
		}
	}
}

type formatter struct {
	args     []string
	used     int
	out      strings.Builder
	problems []string
	stop     bool // \c was met
}

func (f *formatter) next() string {
	f.used++
	if f.used > len(f.args) {
		return ""
	}
	return f.args[f.used-1]
}

func (f *formatter) once(format string) {
	for i := 0; i < len(format) && !f.stop; {
		switch {
		case format[i] == '\\':
			i += f.escape(format[i:], false)
		case format[i] == '%' && i+1 < len(format):
			i += f.directive(format[i:])
		default:
			f.out.WriteByte(format[i])
			i++
		}
	}
}

// escape writes what a backslash sequence means and returns how long it is.
func (f *formatter) escape(text string, inArgument bool) int {
	if len(text) == 1 {
		f.out.WriteByte('\\')
		return 1
	}
	if at := strings.IndexByte(`abefnrtv\"'`, text[1]); at >= 0 {
		f.out.WriteByte("\a\b\x1b\f\n\r\t\v\\\"'"[at])
		return 2
	}
	digits, base, start := "01234567", 8, 1
	most := 3
	switch text[1] {
	case 'c':
		f.stop = true
		return len(text)
	case 'x':
		digits, base, start, most = "0123456789abcdefABCDEF", 16, 2, 2
	case 'u', 'U':
		digits, base, start, most = "0123456789abcdefABCDEF", 16, 2, 8
	case '0':
		if inArgument {
			most = 4
		}
	}
	end := start
	for end < len(text) && end-start < most && strings.IndexByte(digits, text[end]) >= 0 {
		end++
	}
	value, err := strconv.ParseInt(text[start:end], base, 32)
	switch {
	case err != nil:
		f.out.WriteString(text[:2])
		return 2
	case text[1] == 'u' || text[1] == 'U':
		f.out.WriteRune(rune(value))
	default:
		f.out.WriteByte(byte(value))
	}
	return end
}

// directive writes one argument and returns how long its description is.
func (f *formatter) directive(text string) int {
	if text[1] == '%' {
		f.out.WriteByte('%')
		return 2
	}
	end := 1
	for end < len(text) && strings.IndexByte("-+ #0'", text[end]) >= 0 {
		end++
	}
	flags := strings.ReplaceAll(text[1:end], "'", "")
	width, end := f.size(text, end)
	places := ""
	if end < len(text) && text[end] == '.' {
		places, end = f.size(text, end+1)
		places = "." + places
	}
	if strings.HasPrefix(width, "-") {
		flags, width = flags+"-", width[1:]
	}
	for end < len(text) && strings.IndexByte("hlLqjzt", text[end]) >= 0 && !(text[end] == 'q') {
		end++
	}
	if end == len(text) || len(width)+len(places) > 8 {
		f.problems = append(f.problems, fmt.Sprintf("%s: invalid directive", text[:end]))
		return end
	}
	f.value("%"+flags+width+places, text[end])
	return end + 1
}

// size reads a width or precision, which may be an argument.
func (f *formatter) size(text string, at int) (string, int) {
	if at < len(text) && text[at] == '*' {
		n, _ := strconv.Atoi(f.next())
		return strconv.Itoa(n), at + 1
	}
	end := at
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	return text[at:end], end
}

func (f *formatter) value(form string, letter byte) {
	switch letter {
	case 's':
		fmt.Fprintf(&f.out, form+"s", f.next())
	case 'b':
		inner := &formatter{}
		for text := f.next(); text != "" && !inner.stop; {
			if text[0] == '\\' {
				text = text[inner.escape(text, true):]
				continue
			}
			inner.out.WriteByte(text[0])
			text = text[1:]
		}
		f.stop = inner.stop
		fmt.Fprintf(&f.out, form+"s", inner.out.String())
	case 'q':
		fmt.Fprintf(&f.out, form+"s", Quote(f.next()))
	case 'c':
		first, _ := utf8.DecodeRuneInString(f.next())
		if first != utf8.RuneError {
			fmt.Fprintf(&f.out, form+"s", string(first))
		}
	case 'd', 'i':
		fmt.Fprintf(&f.out, form+"d", f.whole())
	case 'u':
		fmt.Fprintf(&f.out, form+"d", uint64(f.whole()))
	case 'o', 'x', 'X':
		fmt.Fprintf(&f.out, form+string(letter), uint64(f.whole()))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		fmt.Fprintf(&f.out, form+string(letter), f.real())
	default:
		f.problems = append(f.problems, fmt.Sprintf("`%c': invalid format character", letter))
		f.stop = true
	}
}

func (f *formatter) whole() int64 {
	text := strings.TrimSpace(f.next())
	if text == "" {
		return 0
	}
	if text[0] == '\'' || text[0] == '"' {
		r, _ := utf8.DecodeRuneInString(text[1:])
		return int64(r)
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		f.problems = append(f.problems, text+": invalid number")
		digits := len(text) - len(strings.TrimLeft(text, "-0123456789"))
		n, _ = strconv.ParseInt(text[:digits], 10, 64)
	}
	return n
}

func (f *formatter) real() float64 {
	text := strings.TrimSpace(f.next())
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		f.problems = append(f.problems, text+": invalid number")
	}
	return n
}

// Quote writes a word so that the shell reads it as it is.
func Quote(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,") == "" {
		return word
	}
	if word == "" || strings.ContainsAny(word, "\n\t\r") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, r := range word {
		if strings.ContainsRune(" !\"#$&'()*,;<>?[\\]^`{|}~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
