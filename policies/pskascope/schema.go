package pskascope

import (
	"encoding/json"

	"github.com/fastreact/fastreact/sdk/wire"
)

// schema is what matters of a tool's input schema: the keys it declares and whether it takes others.
type schema struct {
	properties map[string]json.RawMessage
	closed     bool // it takes no keys but those
}

// readSchema reads a schema. One that cannot be read declares nothing and takes everything.
func readSchema(raw json.RawMessage) schema {
	s := schema{properties: map[string]json.RawMessage{}}
	r := wire.NewReader(raw)
	for name := range r.Members() {
		switch {
		case wire.SameName(name, "properties"):
			for property := range r.Members() {
				s.properties[string(property)] = r.Raw()
			}
		case wire.SameName(name, "additionalProperties"):
			s.closed = string(r.Raw()) == "false"
		default:
			r.Skip()
		}
	}
	if r.End() != nil {
		return schema{}
	}
	return s
}

// declares reports whether the schema names the key.
func (s schema) declares(key string) bool {
	_, found := s.properties[key]
	return found
}

// takes reports whether a call may carry the key.
func (s schema) takes(key string) bool { return !s.closed || s.declares(key) }
