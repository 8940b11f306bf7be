package pskascope

import "encoding/json"

// schema is what matters of a tool's input schema: the keys it declares and whether it takes others.
type schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Additional json.RawMessage            `json:"additionalProperties"`
}

// readSchema reads a schema. One that cannot be read declares nothing and takes everything.
func readSchema(raw json.RawMessage) schema {
	var s schema
	if json.Unmarshal(raw, &s) != nil {
		return schema{}
	}
	return s
}

// declares reports whether the schema names the key.
func (s schema) declares(key string) bool {
	_, found := s.Properties[key]
	return found
}

// takes reports whether a call may carry the key.
func (s schema) takes(key string) bool { return string(s.Additional) != "false" || s.declares(key) }
