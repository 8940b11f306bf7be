package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// errNotAlike says why JSON is refused that encoding/json would take. It holds nothing of what was read.
var errNotAlike = errors.New("not one JSON object that every reader reads alike")

// ReadObject reads exactly one JSON object that every reader reads alike: valid UTF-8, no half of a surrogate pair, no
// key twice in any object, and no more than depth levels of objects and lists, itself included. The members stay as they
// were written.
func ReadObject(raw json.RawMessage, depth int) (map[string]json.RawMessage, error) {
	if !utf8.Valid(raw) || !json.Valid(raw) || hasLoneSurrogate(raw) {
		return nil, errNotAlike
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := walk(decoder, depth); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, errNotAlike
	}
	return members, nil
}

// walk looks at one value for what json.Unmarshal would let pass.
func walk(decoder *json.Decoder, depth int) error {
	token, err := decoder.Token()
	opening, nests := token.(json.Delim)
	switch {
	case err != nil || nests && depth == 0:
		return errNotAlike
	case !nests:
		return nil
	}
	seen := map[string]bool{}
	for decoder.More() {
		if opening == '{' && !takeKey(decoder, seen) {
			return errNotAlike
		}
		if err := walk(decoder, depth-1); err != nil {
			return err
		}
	}
	_, err = decoder.Token() // the closing bracket
	return err
}

func takeKey(decoder *json.Decoder, seen map[string]bool) bool {
	token, err := decoder.Token()
	key, is := token.(string)
	if err != nil || !is || seen[key] {
		return false
	}
	seen[key] = true
	return true
}

// HasNUL reports whether a key or a text in valid JSON holds a NUL.
func HasNUL(raw json.RawMessage) bool {
	for _, unit := range escapes(raw) {
		if unit == 0 {
			return true
		}
	}
	return false
}

// hasLoneSurrogate finds a half of a pair that stands alone. Readers replace it, each in its own way, so that two
// different texts would be one.
func hasLoneSurrogate(raw []byte) bool {
	var half rune // whose other one must be the next
	var next int  // where that must stand
	for at, unit := range escapes(raw) {
		switch {
		case half != 0 && (at != next || utf16.DecodeRune(half, unit) == utf8.RuneError):
			return true
		case half != 0:
			half = 0
		case utf16.IsSurrogate(unit):
			half, next = unit, at+len(`\u0000`)
		}
	}
	return half != 0
}

// escapes yields each \u of valid JSON with its place. A backslash stands inside strings only there, and four digits
// follow each \u.
func escapes(raw []byte) iter.Seq2[int, rune] {
	return func(yield func(int, rune) bool) {
		for i := 0; i < len(raw); i++ {
			if raw[i] != '\\' {
				continue
			}
			at := i
			i++
			if raw[i] != 'u' {
				continue
			}
			unit, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
			if err != nil {
				return // no JSON
			}
			if i += 4; !yield(at, rune(unit)) {
				return
			}
		}
	}
}
