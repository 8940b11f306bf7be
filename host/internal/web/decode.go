package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deeply a body may nest.
const maxDepth = 64

// DecodeObject reads exactly one JSON object: valid UTF-8, bounded in depth, no NUL in any string. Numbers stay as
// written, as json.Number; of duplicate keys the last counts.
func DecodeObject(raw []byte) (map[string]any, *Refusal) {
	if !utf8.Valid(raw) {
		return nil, unreadable("Input should be valid UTF-8")
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, unreadable("Text must not hold NUL characters")
	}
	if depth(raw) > maxDepth {
		return nil, unreadable("Input should not nest deeper than 64 levels")
	}
	value, refusal := decodeOne(raw)
	if refusal != nil {
		return nil, refusal
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, Invalid(FieldError{"dict_type", []any{"body"}, "Input should be a valid dictionary", value})
	}
	if loc := findNUL(value, []any{"body"}); loc != nil {
		return nil, Invalid(FieldError{"value_error", loc, "Text must not hold NUL characters", nil})
	}
	return object, nil
}

func decodeOne(raw []byte) (any, *Refusal) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, malformed(offset(err, len(raw)))
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, malformed(int(decoder.InputOffset()))
	}
	return value, nil
}

// unreadable refuses a body that is not even looked into.
func unreadable(msg string) *Refusal {
	return Invalid(FieldError{"json_invalid", []any{"body"}, msg, nil})
}

func malformed(at int) *Refusal {
	return Invalid(FieldError{"json_invalid", []any{"body", at}, "JSON decode error", map[string]any{}})
}

func offset(err error, length int) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return int(syntax.Offset)
	}
	return length
}

// depth returns how deeply raw nests, counting brackets outside strings.
func depth(raw []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i += len(firstString(raw[i:])) - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// findNUL returns the path of a text that holds NUL, or nil.
func findNUL(value any, path []any) []any {
	switch value := value.(type) {
	case string:
		if strings.ContainsRune(value, 0) {
			return path
		}
	case []any:
		for i, item := range value {
			if found := findNUL(item, at(path, i)); found != nil {
				return found
			}
		}
	case map[string]any:
		return findNULInObject(value, path)
	}
	return nil
}

func findNULInObject(object map[string]any, path []any) []any {
	for key, item := range object {
		if strings.ContainsRune(key, 0) {
			return path
		}
		if found := findNUL(item, at(path, key)); found != nil {
			return found
		}
	}
	return nil
}

// at returns path with one more step, in memory of its own.
func at(path []any, step any) []any {
	return append(path[:len(path):len(path)], step)
}
