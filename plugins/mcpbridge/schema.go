package mcpbridge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

const (
	maxSchemaBytes = 256 << 10
	maxSchemaDepth = 32
)

// checkSchema says why a tool's input schema would make a model provider refuse the whole request, or nil. It looks
// at what providers look at; everything else, such as $schema, anyOf or $ref, is left as the server sent it.
func checkSchema(raw json.RawMessage) error {
	if len(raw) > maxSchemaBytes {
		return fmt.Errorf("input schema is larger than %d bytes", maxSchemaBytes)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil || schema == nil {
		return fmt.Errorf("input schema is no JSON object")
	}
	if schema["type"] != "object" {
		return fmt.Errorf(`input schema has no "type": "object"`)
	}
	return checkSubschema(schema, maxSchemaDepth)
}

func checkSubschema(value any, depth int) error {
	if _, isBool := value.(bool); isBool {
		return nil
	}
	schema, isObject := value.(map[string]any)
	if !isObject {
		return fmt.Errorf("input schema holds a subschema that is no object")
	}
	if depth == 0 {
		return fmt.Errorf("input schema is nested too deeply")
	}
	if err := checkKeywords(schema); err != nil {
		return err
	}
	subschemas, err := subschemasOf(schema)
	if err != nil {
		return err
	}
	for _, sub := range subschemas {
		if err := checkSubschema(sub, depth-1); err != nil {
			return err
		}
	}
	return nil
}

func checkKeywords(schema map[string]any) error {
	if kind, given := schema["type"]; given && !validType(kind) {
		return fmt.Errorf("input schema names an unknown type")
	}
	if required, given := schema["required"]; given && !allStrings(required) {
		return fmt.Errorf(`input schema has a "required" that is no list of names`)
	}
	if _, isList := schema["enum"].([]any); schema["enum"] != nil && !isList {
		return fmt.Errorf(`input schema has an "enum" that is no list`)
	}
	return nil
}

func validType(kind any) bool {
	known := []any{"object", "array", "string", "number", "integer", "boolean", "null"}
	if list, isList := kind.([]any); isList {
		return len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { return !slices.Contains(known, one) })
	}
	text, isText := kind.(string)
	return isText && slices.Contains(known, any(text))
}

func allStrings(value any) bool {
	list, isList := value.([]any)
	return isList && !slices.ContainsFunc(list, func(one any) bool { _, isText := one.(string); return !isText })
}

// subschemasOf collects the schemas directly inside a schema, in a stable order.
func subschemasOf(schema map[string]any) ([]any, error) {
	var found []any
	for _, keyword := range []string{"properties", "patternProperties", "$defs", "definitions"} {
		value, given := schema[keyword]
		if !given {
			continue
		}
		named, isObject := value.(map[string]any)
		if !isObject {
			return nil, fmt.Errorf("input schema has a %q that is no object", keyword)
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			found = append(found, named[name])
		}
	}
	for _, keyword := range []string{"anyOf", "allOf", "oneOf"} {
		value, given := schema[keyword]
		list, isList := value.([]any)
		if given && (!isList || len(list) == 0) {
			return nil, fmt.Errorf("input schema has a %q that is no list of schemas", keyword)
		}
		found = append(found, list...)
	}
	for _, keyword := range []string{"items", "additionalProperties", "not"} {
		value, given := schema[keyword]
		if list, isTuple := value.([]any); isTuple && keyword == "items" {
			found = append(found, list...)
		} else if given {
			found = append(found, value)
		}
	}
	return found, nil
}
