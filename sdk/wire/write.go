package wire

import (
	"errors"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendText appends a JSON string as encoding/json writes it without HTML escaping: bytes that are no UTF-8 become
// U+FFFD, and the two line separators of Unicode are escaped.
func AppendText(out []byte, text string) []byte {
	out = append(out, '"')
	start := 0
	for i := 0; i < len(text); {
		if plainByte(text[i]) {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r >= utf8.RuneSelf && r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		out = appendEscaped(append(out, text[start:i]...), r)
		i += size
		start = i
	}
	return append(append(out, text[start:]...), '"')
}

func appendEscaped(out []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(out, '\\', byte(r))
	case '\b':
		return append(out, `\b`...)
	case '\f':
		return append(out, `\f`...)
	case '\n':
		return append(out, `\n`...)
	case '\r':
		return append(out, `\r`...)
	case '\t':
		return append(out, `\t`...)
	}
	const hex = "0123456789abcdef"
	return append(out, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// AppendTexts appends a list of strings; nil is null.
func AppendTexts(out []byte, texts []string) []byte {
	if texts == nil {
		return append(out, "null"...)
	}
	out = append(out, '[')
	for i, text := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = AppendText(out, text)
	}
	return append(out, ']')
}

// AppendNumber appends a number as encoding/json writes it. What is no number in JSON is an error.
func AppendNumber(out []byte, number float64) ([]byte, error) {
	if math.IsInf(number, 0) || math.IsNaN(number) {
		return nil, errors.New("JSON has no infinite number and none that is not a number")
	}
	size := math.Abs(number)
	if size == 0 || 1e-6 <= size && size < 1e21 {
		return strconv.AppendFloat(out, number, 'f', -1, 64), nil
	}
	out = strconv.AppendFloat(out, number, 'e', -1, 64)
	if n := len(out); out[n-4] == 'e' && out[n-3] == '-' && out[n-2] == '0' { // e-09 is written e-9
		out[n-2] = out[n-1]
		out = out[:n-1]
	}
	return out, nil
}

// AppendRaw appends a JSON value without the white space between its parts; nil is null. What is not one JSON value
// is an error.
func AppendRaw(out, value []byte) ([]byte, error) {
	if value == nil {
		return append(out, "null"...), nil
	}
	r := NewReader(value)
	r.Skip()
	if err := r.End(); err != nil {
		return nil, err
	}
	inside, escaped := false, false
	for _, c := range value {
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case !inside && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			continue
		}
		out = append(out, c)
	}
	return out, nil
}
