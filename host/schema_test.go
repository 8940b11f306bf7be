package host

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func TestSchemaAcceptsWhatTheLoaderAccepts(t *testing.T) {
	schema := compiledSchema(t)
	loaded := load(t, LoadOptions{Path: file(t, exampleYAML), Getenv: env{"DOCS_TOKEN": "x"}.get})
	for name, text := range map[string]string{"example": exampleYAML, "printed": printOf(t, loaded)} {
		if err := schema.Validate(decode(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSchemaRefusesWhatTheLoaderRefuses(t *testing.T) {
	schema := compiledSchema(t)
	for _, text := range []string{
		`{server: {adr: x}}`,
		`{server: {keepalive: 15}}`,
		`{workers: {chat: 0}}`,
		`{telemetry: {log_level: loud}}`,
		`{policy: {tool_rules: {exec: maybe}}}`,
		`{policy: {tool_rules: {exec: {tools: {a: deny}}}}}`,
		`{policy: {user_rules: {a: {}}}}`,
		`{mcp: {servers: [{nam: x}]}}`,
	} {
		if err := schema.Validate(decode(t, text)); err == nil {
			t.Errorf("the schema accepts %s", text)
		}
		if _, err := Load(LoadOptions{Path: file(t, text), Getenv: env{}.get}); err == nil {
			t.Errorf("the loader accepts %s", text)
		}
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	var out bytes.Buffer
	if err := WriteSchema(&out); err != nil {
		t.Fatal(err)
	}
	described(t, "", decode(t, out.String()).(map[string]any))
}

func described(t *testing.T, path string, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for key, one := range properties {
		property := one.(map[string]any)
		if about, _ := property["description"].(string); !strings.HasSuffix(about, ".") {
			t.Errorf("%s.%s has no description", path, key)
		}
		described(t, path+"."+key, property)
		if items, is := property["items"].(map[string]any); is {
			described(t, path+"."+key+"[]", items)
		}
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var out bytes.Buffer
	if err := WriteSchema(&out); err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(&out)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("config.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
