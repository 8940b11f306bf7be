package policy

import (
	"bytes"
	"encoding/json"
	"slices"
)

// shape is the little that the host must know about an object schema: what it declares and whether it takes more.
// A schema that cannot be read declares nothing and takes everything.
type shape struct {
	properties map[string]json.RawMessage
	required   []string
	closed     bool // additionalProperties is false
}

func shapeOf(schema json.RawMessage) shape {
	var fields map[string]json.RawMessage
	if json.Unmarshal(schema, &fields) != nil {
		return shape{}
	}
	var s shape
	if json.Unmarshal(fields["properties"], &s.properties) != nil {
		s.properties = nil
	}
	if json.Unmarshal(fields["required"], &s.required) != nil {
		s.required = nil
	}
	s.closed = bytes.Equal(bytes.TrimSpace(fields["additionalProperties"]), []byte("false"))
	return s
}

func (s shape) declares(key string) bool {
	_, found := s.properties[key]
	return found
}

// takes reports whether an argument of that name may be sent.
func (s shape) takes(key string) bool { return !s.closed || s.declares(key) }

// types returns the JSON types a property allows, or nil when its schema does not say so plainly.
func (s shape) types(key string) []string {
	var property struct {
		Type json.RawMessage `json:"type"`
	}
	if json.Unmarshal(s.properties[key], &property) != nil {
		return nil
	}
	var one string
	if json.Unmarshal(property.Type, &one) == nil && one != "" {
		return []string{one}
	}
	var many []string
	if json.Unmarshal(property.Type, &many) != nil {
		return nil
	}
	return many
}

// declaresObject reports whether key is declared and may hold an object.
func (s shape) declaresObject(key string) bool {
	types := s.types(key)
	return s.declares(key) && (types == nil || slices.Contains(types, "object"))
}
