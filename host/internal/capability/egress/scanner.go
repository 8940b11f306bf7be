package egress

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
)

// LeastSecret is the length in bytes below which a value is not looked for: it would be found in ordinary words.
const LeastSecret = 8

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// Scanner finds secrets in bytes, as they are and in the forms that programs give them on the way: base64 at every
// alignment, hexadecimal, and the escapes of URLs, JSON and HTML. The zero value finds nothing. It never changes.
type Scanner struct {
	needles []string // longest first
	longest int      // the longest value
}

// NewScanner returns a scanner for values. Those that are too short are left out.
func NewScanner(values []string) Scanner {
	var s Scanner
	for _, value := range values {
		if len(value) < LeastSecret {
			continue
		}
		s.longest = max(s.longest, len(value))
		s.needles = append(s.needles, forms(value)...)
	}
	slices.SortFunc(s.needles, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	s.needles = slices.Compact(s.needles)
	return s
}

// forms returns how a value may be written.
func forms(value string) []string {
	escaped, _ := json.Marshal(value) // text cannot fail
	all := []string{
		value, url.QueryEscape(value), url.PathEscape(value), string(escaped[1 : len(escaped)-1]),
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			encoded := encoding.EncodeToString(append(make([]byte, shift), value...))
			// The outermost letters hold bits of what stands beside the value.
			first, last := (shift*8+5)/6, (shift+len(value))*8/6
			all = append(all, encoded[first:last])
		}
	}
	return all
}

// Finds reports whether text shows a secret.
func (s Scanner) Finds(text []byte) bool {
	if len(s.needles) == 0 || len(text) == 0 {
		return false
	}
	if s.within(text) {
		return true
	}
	if bytes.IndexByte(text, '%') >= 0 && s.within(unescape(text, '%', "")) {
		return true
	}
	if bytes.IndexByte(text, '\\') >= 0 && s.within(unescape(text, '\\', "u")) {
		return true
	}
	return bytes.IndexByte(text, '&') >= 0 && s.within([]byte(html.UnescapeString(string(text))))
}

func (s Scanner) within(text []byte) bool {
	return slices.ContainsFunc(s.needles, func(needle string) bool { return bytes.Contains(text, []byte(needle)) })
}

// Redact returns text without the secrets that stand in it.
func (s Scanner) Redact(text string) string {
	for _, needle := range s.needles {
		text = strings.ReplaceAll(text, needle, Redacted)
	}
	return text
}

// unescape undoes %41 or \u0041, and drops the mark before anything else that follows \. Bytes beyond ASCII are left as
// they are: no secret holds any.
func unescape(text []byte, mark byte, word string) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != mark {
			out = append(out, text[i])
			continue
		}
		digits := text[i+1:]
		if word != "" && !bytes.HasPrefix(digits, []byte(word)) {
			continue
		}
		skip := len(word)
		if word != "" && bytes.HasPrefix(digits[skip:], []byte("00")) {
			skip += 2
		}
		var one [1]byte
		if len(digits) < skip+2 {
			continue
		}
		if _, err := hex.Decode(one[:], digits[skip:skip+2]); err != nil {
			out = append(out, mark)
			continue
		}
		out = append(out, one[0])
		i += skip + 2
	}
	return out
}

// window scans what comes piece by piece.
type window struct {
	scanner Scanner
	tail    []byte
}

// finds reports whether a secret ends in piece.
func (w *window) finds(piece []byte) bool {
	if len(w.scanner.needles) == 0 {
		return false
	}
	text := append(w.tail, piece...)
	if w.scanner.Finds(text) {
		return true
	}
	kept := min(len(text), 6*w.scanner.longest) // \u0041 is the longest way to write a letter
	w.tail = append([]byte{}, text[len(text)-kept:]...)
	return false
}
