package agenttools

import (
	"bytes"
	"encoding/json"
)

// maxDepth is how deeply a body may nest.
const maxDepth = 32

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
