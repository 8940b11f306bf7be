package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// MinSecret is the length in bytes below which a value is not masked: it would cut up ordinary words, and it guards
// nothing.
const MinSecret = 8

// Mask takes secrets out of what leaves. The zero value masks nothing. It may be used by many goroutines.
type Mask struct {
	needles []string // what is looked for in decoded text, longest first
}

// NewMask returns a mask for the secrets. Each is also found where a string holds JSON that holds it, escaped once or
// twice. Values shorter than eight bytes are left alone.
func NewMask(secrets []string) Mask {
	var needles []string
	for _, secret := range secrets {
		if len(secret) < MinSecret || !utf8.ValidString(secret) {
			continue
		}
		for range 3 {
			needles = append(needles, secret, strings.ReplaceAll(secret, "/", `\/`))
			secret = escape(secret)
		}
	}
	slices.SortFunc(needles, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return Mask{slices.Compact(needles)}
}

// escape returns text as it stands inside a JSON string.
func escape(text string) string {
	encoded, err := Encode(text)
	if err != nil {
		return text
	}
	return string(encoded[1 : len(encoded)-1])
}

// Text returns text without the secrets.
func (m Mask) Text(text string) string {
	for _, needle := range m.needles {
		text = strings.ReplaceAll(text, needle, Redacted)
	}
	return text
}

// JSON returns encoded JSON without the secrets. Every string is looked at as it reads, not as it is escaped; a
// number that is a secret becomes a string. Bytes that hold none are returned as they are.
func (m Mask) JSON(encoded []byte) []byte {
	if len(m.needles) == 0 {
		return encoded
	}
	var out bytes.Buffer
	for len(encoded) > 0 {
		token := firstToken(encoded)
		out.Write(m.token(token))
		encoded = encoded[len(token):]
	}
	return out.Bytes()
}

// token masks one string or number; anything else passes.
func (m Mask) token(token []byte) []byte {
	if token[0] != '"' {
		if text := string(token); m.Text(text) != text {
			return []byte(`"` + Redacted + `"`)
		}
		return token
	}
	text := unquote(token)
	clean := m.Text(text)
	if clean == text {
		return token
	}
	masked, err := Encode(clean)
	if err != nil {
		return []byte(`"` + Redacted + `"`)
	}
	return masked
}

// unquote returns the text of a string. What is no JSON string reads as it stands.
func unquote(token []byte) string {
	var text string
	if bytes.IndexByte(token, '\\') < 0 || json.Unmarshal(token, &text) != nil {
		return strings.Trim(string(token), `"`)
	}
	return text
}

// firstToken returns the string, the run of literal characters, or the single byte that JSON begins with.
func firstToken(encoded []byte) []byte {
	if encoded[0] == '"' {
		return firstString(encoded)
	}
	end := 0
	for end < len(encoded) && literal(encoded[end]) {
		end++
	}
	return encoded[:max(end, 1)]
}

func firstString(encoded []byte) []byte {
	for i := 1; i < len(encoded); i++ {
		switch encoded[i] {
		case '\\':
			i++
		case '"':
			return encoded[:i+1]
		}
	}
	return encoded
}

func literal(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '-' || c == '+'
}
