package web

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fields reads the fields of a decoded object and remembers every fault. Null and absent are the same. The readers
// return the zero value where a field is absent or wrong.
type Fields struct {
	object map[string]any
	path   []any
	faults *[]FieldError
}

// NewFields returns a reader of a request's body.
func NewFields(object map[string]any) Fields {
	return Fields{object, []any{"body"}, new([]FieldError)}
}

// Err returns the refusal for all faults found so far, or nil.
func (f Fields) Err() error {
	if len(*f.faults) == 0 {
		return nil
	}
	return Invalid(*f.faults...)
}

// Fault remembers that a field is wrong. rest leads from the field to the place inside it.
func (f Fields) Fault(kind, msg, key string, rest ...any) {
	path := append(at(f.path, key), rest...)
	*f.faults = append(*f.faults, FieldError{kind, path, msg, f.object[key]})
}

// Missing remembers that a required field is absent.
func (f Fields) Missing(key string) {
	*f.faults = append(*f.faults, FieldError{"missing", at(f.path, key), "Field required", f.object})
}

// Raw returns the value of a field as it was decoded.
func (f Fields) Raw(key string) any { return f.object[key] }

// Has reports whether a field is there and not null.
func (f Fields) Has(key string) bool { return f.object[key] != nil }

// Text returns a text of at most limit characters.
func (f Fields) Text(key string, limit int) string {
	value := f.object[key]
	if value == nil {
		return ""
	}
	text, ok := value.(string)
	if !ok {
		f.Fault("string_type", "Input should be a valid string", key)
		return ""
	}
	if utf8.RuneCountInString(text) > limit {
		f.Fault("string_too_long", fmt.Sprintf("String should have at most %d characters", limit), key)
		return ""
	}
	return text
}

// Word returns a text without control characters and line breaks.
func (f Fields) Word(key string, limit int) string {
	text := f.Text(key, limit)
	if strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) >= 0 {
		f.Fault("string_pattern_mismatch", "String should hold no control characters", key)
		return ""
	}
	return text
}

// Matching returns a text that matches the pattern, where the field is there.
func (f Fields) Matching(key string, pattern *regexp.Regexp) string {
	if !f.Has(key) {
		return ""
	}
	text, ok := f.object[key].(string)
	switch {
	case !ok:
		f.Fault("string_type", "Input should be a valid string", key)
	case !pattern.MatchString(text):
		f.Fault("string_pattern_mismatch", fmt.Sprintf("String should match pattern '%s'", pattern), key)
	default:
		return text
	}
	return ""
}

// OneOf returns one of the words, where the field is there.
func (f Fields) OneOf(key string, words ...string) string {
	text := f.Text(key, 64)
	for _, word := range words {
		if text == word {
			return word
		}
	}
	if _, isText := f.object[key].(string); isText {
		f.Fault("literal_error", "Input should be '"+strings.Join(words, "' or '")+"'", key)
	}
	return ""
}

// Flag returns a boolean, or nil where the field is absent.
func (f Fields) Flag(key string) *bool {
	value := f.object[key]
	if value == nil {
		return nil
	}
	flag, ok := value.(bool)
	if !ok {
		f.Fault("bool_type", "Input should be a valid boolean", key)
		return nil
	}
	return &flag
}

// Between returns a number from low to high, or nil where the field is absent.
func (f Fields) Between(key string, low, high float64) *float64 {
	value := f.object[key]
	if value == nil {
		return nil
	}
	written, ok := value.(json.Number)
	if !ok {
		f.Fault("float_type", "Input should be a valid number", key)
		return nil
	}
	number, err := written.Float64()
	switch {
	case err != nil:
		f.Fault("finite_number", "Input should be a finite number", key)
	case number < low:
		f.Fault("greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %g", low), key)
	case number > high:
		f.Fault("less_than_equal", fmt.Sprintf("Input should be less than or equal to %g", high), key)
	default:
		return &number
	}
	return nil
}

// Positive returns a whole number above zero, or nil where the field is absent.
func (f Fields) Positive(key string) *int {
	value := f.object[key]
	if value == nil {
		return nil
	}
	written, ok := value.(json.Number)
	if !ok {
		f.Fault("int_type", "Input should be a valid integer", key)
		return nil
	}
	number, err := written.Int64()
	switch {
	case err != nil:
		f.Fault("int_type", "Input should be a valid integer", key)
	case number <= 0:
		f.Fault("greater_than", "Input should be greater than 0", key)
	case number > 1<<31-1:
		f.Fault("less_than_equal", "Input should be less than or equal to 2147483647", key)
	default:
		whole := int(number)
		return &whole
	}
	return nil
}

// Texts returns a list of texts, or nil where the field is absent.
func (f Fields) Texts(key string) *[]string {
	items, ok := f.List(key)
	if !ok {
		return nil
	}
	texts := make([]string, 0, len(items))
	for i, item := range items {
		text, isText := item.(string)
		if !isText {
			f.Fault("string_type", "Input should be a valid string", key, i)
			return nil
		}
		texts = append(texts, text)
	}
	return &texts
}

// List returns a list; ok is false where the field is absent or no list.
func (f Fields) List(key string) (items []any, ok bool) {
	value := f.object[key]
	if value == nil {
		return nil, false
	}
	items, ok = value.([]any)
	if !ok {
		f.Fault("list_type", "Input should be a valid list", key)
	}
	return items, ok
}

// Inside returns a reader of an object field. Where the field is absent or no object, it reads nothing.
func (f Fields) Inside(key string) Fields {
	value := f.object[key]
	object, ok := value.(map[string]any)
	if value != nil && !ok {
		f.Fault("dict_type", "Input should be a valid dictionary", key)
	}
	return Fields{object, at(f.path, key), f.faults}
}

// Item returns a reader of an object in a list field.
func (f Fields) Item(key string, index int, item any) Fields {
	object, ok := item.(map[string]any)
	if !ok {
		f.Fault("dict_type", "Input should be a valid dictionary", key, index)
	}
	return Fields{object, at(at(f.path, key), index), f.faults}
}

// Object returns what the reader reads.
func (f Fields) Object() map[string]any { return f.object }
