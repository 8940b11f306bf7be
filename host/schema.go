package host

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// durationPattern is how a duration looks in the file.
const durationPattern = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$|^[+-]?0$`

// WriteSchema writes the JSON Schema of the configuration file, made from the same struct tags that the loader reads.
func WriteSchema(w io.Writer) error {
	schema := sectionSchema(reflect.TypeFor[Config]())
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "FastReAct configuration"
	schema["$defs"] = ruleSchemas()
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(schema); err != nil {
		return fmt.Errorf("write schema: %w", err)
	}
	return nil
}

func sectionSchema(section reflect.Type) map[string]any {
	properties := map[string]any{}
	for _, f := range fieldsOf(section) {
		declared := section.Field(f.index)
		one := valueSchema(declared.Type, f)
		if f.about != "" {
			one["description"] = f.about
		}
		if fallback, has := declared.Tag.Lookup("default"); has {
			one["default"] = defaultValue(fallback, declared.Type)
		}
		properties[f.key] = one
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

func valueSchema(t reflect.Type, f field) map[string]any {
	switch {
	case t == treeType:
		return map[string]any{"type": "object"}
	case t == rulesType:
		return rulesSchema(f)
	case t == durationType:
		return map[string]any{"type": "string", "pattern": durationPattern}
	case t.Kind() == reflect.Struct:
		return sectionSchema(t)
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": valueSchema(t.Elem(), field{})}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": valueSchema(t.Elem(), field{})}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.String:
		return textSchema(f)
	}
	return numberSchema(f)
}

func textSchema(f field) map[string]any {
	schema := map[string]any{"type": "string"}
	if f.enum != nil {
		schema["enum"] = f.enum
	}
	return schema
}

func numberSchema(f field) map[string]any {
	schema := map[string]any{"type": "integer"}
	if f.bounds != nil {
		schema["minimum"], schema["maximum"] = f.bounds.least, f.bounds.most
	}
	return schema
}

func defaultValue(text string, t reflect.Type) any {
	if t.Kind() == reflect.String || t == durationType {
		return text
	}
	return json.RawMessage(text)
}

func rulesSchema(f field) map[string]any {
	definition := "rule"
	if strings.HasPrefix(f.key, "tool_") {
		definition = "toolRule"
	}
	return map[string]any{
		"type":                 "object",
		"additionalProperties": map[string]any{"$ref": "#/$defs/" + definition},
	}
}

// ruleSchemas describes the forms of a policy rule.
func ruleSchemas() map[string]any {
	action := map[string]any{"enum": sdk.Actions()}
	toolRule := func(more map[string]any) map[string]any {
		properties := map[string]any{"action": action}
		for key, value := range more {
			properties[key] = value
		}
		return map[string]any{"anyOf": []any{action, map[string]any{
			"type": "object", "additionalProperties": false, "minProperties": 1, "properties": properties,
		}}}
	}
	tools := map[string]any{"type": "object", "additionalProperties": map[string]any{"$ref": "#/$defs/toolRule"}}
	return map[string]any{
		"toolRule": toolRule(nil),
		"rule":     toolRule(map[string]any{"tools": tools}),
	}
}
