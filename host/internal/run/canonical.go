package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// Canonical returns the canonical form of one JSON value: keys sorted, no white space, numbers as written, the last
// of duplicate keys kept. Equality of arguments is equality of canonical JSON.
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	value, err := Decode(raw)
	if err != nil {
		return nil, err
	}
	return Encode(value)
}

// MaxDepth is how deeply JSON may nest that a model or a tool wrote. It leaves room in what other decoders read, so
// that a value can always be put into an event, an approval and a request, and read back by everybody.
const MaxDepth = 256

// Shallow reports whether JSON nests no deeper than MaxDepth.
func Shallow(raw json.RawMessage) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > MaxDepth {
				return false
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return true
}

// Decode reads exactly one JSON value, numbers as json.Number. Trailing bytes and more than MaxDepth levels are errors.
func Decode(raw json.RawMessage) (any, error) {
	if !Shallow(raw) {
		return nil, fmt.Errorf("decode JSON: more than %d levels", MaxDepth)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("decode JSON: bytes after the value")
	}
	return value, nil
}

// Encode writes a decoded value canonically, without escaping HTML.
func Encode(value any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// EncodeOwn writes what this program has built itself as Encode does. That it cannot be written is a bug.
func EncodeOwn(value any) json.RawMessage {
	raw, err := Encode(value)
	if err != nil {
		panic("encode own value: " + err.Error())
	}
	return raw
}

// Digest returns "sha256:<hex>" of the bytes.
func Digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
