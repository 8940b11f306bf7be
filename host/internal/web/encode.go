package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Encode returns value as one line of JSON that every reader of lines keeps whole: valid UTF-8, HTML characters as
// they are, and the line breaks U+0085, U+2028 and U+2029 escaped.
func Encode(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	line := bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
	}
	for _, escape := range lineBreaks() {
		if bytes.Contains(line, []byte(escape.raw)) { // a large line is not copied for nothing
			line = bytes.ReplaceAll(line, []byte(escape.raw), []byte(escape.escaped))
		}
	}
	return line, nil
}

type lineBreak struct{ raw, escaped string }

// lineBreaks lists the line breaks beyond ASCII. In JSON they stand inside strings only, never after a backslash.
func lineBreaks() [3]lineBreak {
	return [3]lineBreak{{"\u0085", `\u0085`}, {"\u2028", `\u2028`}, {"\u2029", `\u2029`}}
}
