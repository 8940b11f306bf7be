package policy

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// ArgumentIssue says why a call's arguments cannot be run. It goes back to the model.
type ArgumentIssue struct {
	Problem string
	Missing []string // required arguments that are not there, sorted
}

// Error is the problem.
func (i *ArgumentIssue) Error() string { return i.Problem }

// ReadArguments returns the canonical form of what a model wrote as arguments: one JSON object, each key once, no NUL
// anywhere. Nothing at all stands for no arguments only where the tool takes none.
func ReadArguments(schema, written json.RawMessage) (json.RawMessage, *ArgumentIssue) {
	if strings.TrimSpace(string(written)) == "" && len(shapeOf(schema).properties) == 0 {
		return json.RawMessage("{}"), nil
	}
	value, err := run.Decode(written)
	if err != nil {
		return nil, &ArgumentIssue{Problem: "arguments are not valid JSON"}
	}
	if _, isObject := value.(map[string]any); !isObject {
		return nil, &ArgumentIssue{Problem: "arguments must be a JSON object"}
	}
	if holdsNUL(value) {
		return nil, &ArgumentIssue{Problem: "arguments must not contain NUL characters"}
	}
	canonical, err := run.Encode(value)
	if err != nil {
		return nil, &ArgumentIssue{Problem: "arguments cannot be written as JSON"}
	}
	return canonical, nil
}

// CheckArguments compares the final arguments with what the tool's schema says plainly: which are required and of
// which primitive type each is. The rest is left to the tool.
func CheckArguments(schema, args json.RawMessage) *ArgumentIssue {
	object, err := decodeObject(args)
	if err != nil {
		return &ArgumentIssue{Problem: "arguments must be a JSON object"}
	}
	s := shapeOf(schema)
	if missing := missingFrom(object, s); len(missing) > 0 {
		return &ArgumentIssue{Problem: "missing required arguments: " + strings.Join(missing, ", "), Missing: missing}
	}
	for _, key := range sortedKeys(object) {
		types := s.types(key)
		optionalNull := object[key] == nil && !slices.Contains(s.required, key)
		if len(types) > 0 && !optionalNull && !slices.ContainsFunc(types, fits(object[key])) {
			return &ArgumentIssue{Problem: fmt.Sprintf("argument %q must be of type %s", key, strings.Join(types, " or "))}
		}
	}
	return nil
}

// missingFrom lists required arguments that the model left out. Identity is not the model's to give.
func missingFrom(object map[string]any, s shape) []string {
	missing := []string{}
	for _, key := range s.required {
		if _, given := object[key]; !given && !isIdentityKey(key) {
			missing = append(missing, key)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// fits returns a test of whether a value is of a JSON type. A type that JSON Schema does not know fits everything.
func fits(value any) func(jsonType string) bool {
	return func(jsonType string) bool {
		switch jsonType {
		case "string", "boolean", "null", "object", "array", "number":
			return jsonType == typeOf(value)
		case "integer":
			number, isNumber := value.(json.Number)
			return isNumber && isWhole(number)
		}
		return true
	}
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// isWhole reports whether a number has no fraction, however it is written.
func isWhole(number json.Number) bool {
	if _, err := number.Int64(); err == nil {
		return true
	}
	if !strings.ContainsAny(number.String(), ".eE") {
		return true // larger than 64 bits
	}
	value, err := number.Float64()
	return err == nil && value == math.Trunc(value)
}

// holdsNUL looks for NUL in every key and text: what one layer reads past, the next one ends at.
func holdsNUL(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.ContainsRune(v, 0)
	case []any:
		return slices.ContainsFunc(v, holdsNUL)
	case map[string]any:
		for key, member := range v {
			if strings.ContainsRune(key, 0) || holdsNUL(member) {
				return true
			}
		}
	}
	return false
}
