package agenttools

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deeply a body may nest.
const maxDepth = 32

// errNotJSON says that a body is not the one JSON object that it should be.
var errNotJSON = errors.New("no JSON object that everybody reads alike")

// decodeObject reads exactly one JSON object that every reader reads alike: valid UTF-8, no half of a surrogate pair, no
// key twice in any object, bounded in depth. The values stay as they were written.
func decodeObject(raw []byte) (object, error) {
	if !utf8.Valid(raw) || !json.Valid(raw) || loneSurrogate(raw) {
		return nil, errNotJSON
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := walk(decoder, 0); err != nil {
		return nil, err
	}
	var read object
	if err := json.Unmarshal(raw, &read); err != nil || read == nil {
		return nil, errNotJSON
	}
	return read, nil
}

// walk reads one value and looks for what json.Unmarshal would let pass.
func walk(decoder *json.Decoder, depth int) error {
	token, err := decoder.Token()
	if err != nil || depth > maxDepth {
		return errNotJSON
	}
	switch token {
	case json.Delim('{'):
		err = walkObject(decoder, depth+1)
	case json.Delim('['):
		for decoder.More() && err == nil {
			err = walk(decoder, depth+1)
		}
	default:
		return nil
	}
	if err != nil {
		return err
	}
	_, err = decoder.Token() // the closing bracket
	return err
}

func walkObject(decoder *json.Decoder, depth int) error {
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		key, is := token.(string)
		if err != nil || !is || seen[key] {
			return errNotJSON
		}
		seen[key] = true
		if err := walk(decoder, depth); err != nil {
			return err
		}
	}
	return nil
}

// loneSurrogate finds a half of a pair that stands alone. Readers replace it, each in its own way, so that two different
// texts would be one. raw is valid JSON: a backslash stands inside strings only, and four digits follow each \u.
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		first := codeUnit(raw[i+1:])
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		if !bytes.HasPrefix(raw[i+1:], []byte(`\u`)) || utf16.DecodeRune(first, codeUnit(raw[i+3:])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

func codeUnit(digits []byte) rune {
	unit, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(unit)
}

// object is what a body holds, by key.
type object map[string]json.RawMessage

// into fills the fields of a wire type by exact keys: no key is missing, none is too many, and none is another one in
// other letters. Each value has the type of its field, and null is for pointers and raw JSON only.
func (o object) into(keys []string, fields ...any) bool {
	if len(o) != len(keys) {
		return false
	}
	for i, key := range keys {
		value, there := o[key]
		if !there || !fill(value, fields[i]) {
			return false
		}
	}
	return true
}

func fill(value json.RawMessage, field any) bool {
	switch field := field.(type) {
	case *json.RawMessage:
		*field = value
		return true
	case *[]string:
		return fillTexts(value, field)
	}
	return !isNull(value) && json.Unmarshal(value, field) == nil
}

// fillTexts reads a list of which every element is a text.
func fillTexts(value json.RawMessage, field *[]string) bool {
	var elements []json.RawMessage
	if !fill(value, &elements) {
		return false
	}
	for _, element := range elements {
		var text string
		if !fill(element, &text) {
			return false
		}
		*field = append(*field, text)
	}
	return true
}

func isNull(value json.RawMessage) bool { return string(value) == "null" }

func isObject(value json.RawMessage) bool { return bytes.HasPrefix(value, []byte("{")) }
