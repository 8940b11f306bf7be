package gateway

import (
	"encoding/json"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

// The bounds of an input, in members. They are the protocol's, in every instance alike.
const (
	maxSelection  = 8
	maxExclusions = 8
	maxRefs       = 64
)

// field is one member of a tool's input: what the catalogue says of it and what is taken are one thing.
type field struct {
	name   string
	schema map[string]any
	takes  func(raw json.RawMessage) bool
}

func textField(name string) field {
	return field{name, textSchema(), textThat(run.IsText)}
}

func objectField(name string) field {
	return field{name, objectIDSchema(), textThat(run.IsObjectID)}
}

func listField(name string, least, most int, item field) field {
	schema := map[string]any{"type": "array", "maxItems": most, "items": item.schema}
	if least > 0 {
		schema["minItems"] = least
	}
	return field{name, schema, func(raw json.RawMessage) bool {
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil || items == nil || len(items) < least || len(items) > most {
			return false
		}
		for _, one := range items {
			if !item.takes(one) {
				return false
			}
		}
		return true
	}}
}

// distinct makes a list of texts one whose items differ.
func distinct(list field) field {
	list.schema["uniqueItems"] = true
	takes := list.takes
	list.takes = func(raw json.RawMessage) bool {
		var items []string
		if !takes(raw) || json.Unmarshal(raw, &items) != nil {
			return false
		}
		slices.Sort(items)
		return len(slices.Compact(items)) == len(items)
	}
	return list
}

func textSchema() map[string]any {
	return map[string]any{"type": "string", "minLength": 1, "maxLength": run.MaxText, "pattern": `\S`}
}

func objectIDSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": run.ObjectIDPattern}
}

// textThat returns a test of whether JSON is a text that is fine. null is no text.
func textThat(fine func(string) bool) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var text *string
		return json.Unmarshal(raw, &text) == nil && text != nil && fine(*text)
	}
}

// takes reports whether the members of an input are exactly these fields, each as it should be.
func takes(fields []field, members map[string]json.RawMessage) bool {
	if len(members) != len(fields) {
		return false
	}
	for _, f := range fields {
		raw, given := members[f.name]
		if !given || !f.takes(raw) {
			return false
		}
	}
	return true
}

// closedSchema is the JSON Schema of an input: every field is required, and there is no other.
func closedSchema(fields []field) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, f := range fields {
		properties[f.name] = f.schema
		required = append(required, f.name)
	}
	return run.EncodeOwn(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
}
