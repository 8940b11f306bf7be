package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// fields names the arguments a tool knows and where each goes: a *string, *int or *bool.
type fields map[string]any

// read takes a JSON object apart. Names are exact, as in the published schemas: an unknown, doubled or differently
// written name is refused, so that what a policy judged is what the tool reads.
func (f fields) read(args json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(args))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return errors.New("the arguments must be a JSON object")
	}
	seen := map[string]bool{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return errors.New("the arguments are not valid JSON")
		}
		key, _ := name.(string)
		if seen[key] {
			return fmt.Errorf("the argument %q is given twice", key)
		}
		seen[key] = true
		if err := f.set(decoder, key); err != nil {
			return err
		}
	}
	return nil
}

func (f fields) set(decoder *json.Decoder, key string) error {
	target, known := f[key]
	if !known {
		return fmt.Errorf("there is no argument %q; the arguments are %s", key, f.names())
	}
	if err := decoder.Decode(target); err != nil {
		return fmt.Errorf("the argument %q must be %s", key, wanted(target))
	}
	return nil
}

func (f fields) names() string {
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func wanted(target any) string {
	switch target.(type) {
	case *string, **string:
		return "a string"
	case *int:
		return "a whole number"
	case *bool:
		return "true or false"
	}
	return "of another type"
}
