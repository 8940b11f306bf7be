package workbench

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// head is the part of a change that tests compare.
type head struct {
	Effect      Effect
	What, Where string
}

// compared diffs two modules that answer alike and returns what matters to a reviewer.
func compared(t *testing.T, before, after []byte) []head {
	t.Helper()
	report, err := Diff(t.Context(), written(t, before), written(t, after))
	if err != nil {
		t.Fatal(err)
	}
	heads := []head{}
	for _, c := range report.Changes {
		if c.Effect != Neutral {
			heads = append(heads, head{c.Effect, c.What, c.Where})
		}
	}
	return heads
}

// manifests writes a manifest of a kind with more keys.
func manifestOf(kind, more string) string {
	tools := ""
	if kind == "tool" {
		tools = `,"tools":[{"name":"note","description":"A note.","input_schema":{"type":"object"}}]`
	}
	return fmt.Sprintf(`{"abi":1,"name":"p","version":"1","kind":%q%s%s}`, kind, tools, more)
}

func TestWhatAManifestAsksForMoreWidensAndLessNarrows(t *testing.T) {
	for name, c := range map[string]struct {
		kind, less, more string
		what, where      string
	}{
		"files":         {"tool", ``, `,"capabilities":{"files":[{"at":"/","mode":"ro"}]}`, "path", "capabilities.files at /"},
		"writing":       {"tool", `,"capabilities":{"files":[{"at":"/","mode":"ro"}]}`, `,"capabilities":{"files":[{"at":"/","mode":"rw"}]}`, "path", "capabilities.files at /"},
		"progress":      {"tool", `,"capabilities":{"progress":{"bytes":10}}`, `,"capabilities":{"progress":{"bytes":11}}`, "capability", "capabilities.progress.bytes"},
		"host":          {"tool", `,"capabilities":{"http":[{"host":"a.example"}]}`, `,"capabilities":{"http":[{"host":"a.example"},{"host":"b.example"}]}`, "host", "capabilities.http https://b.example:443"},
		"port":          {"tool", ``, `,"capabilities":{"http":[{"host":"a.example","port":8443}]}`, "host", "capabilities.http https://a.example:8443"},
		"method":        {"tool", `,"capabilities":{"http":[{"host":"a.example"}]}`, `,"capabilities":{"http":[{"host":"a.example","methods":["GET","HEAD","POST"]}]}`, "method", "capabilities.http https://a.example:443"},
		"secret":        {"tool", ``, `,"capabilities":{"secrets":[{"name":"key","hosts":["a.example"]}]}`, "secret", "capabilities.secrets key"},
		"secret's host": {"tool", `,"capabilities":{"secrets":[{"name":"key","hosts":["a.example"]}]}`, `,"capabilities":{"secrets":[{"name":"key","hosts":["a.example","b.example"]}]}`, "host", "capabilities.secrets key"},
		"kv":            {"tool", ``, `,"capabilities":{"kv":{"bytes":10}}`, "capability", "capabilities.kv.bytes"},
		"gas":           {"policy", `,"limits":{"gas":10}`, `,"limits":{"gas":11}`, "limit", "limits.gas"},
		"host calls":    {"policy", `,"limits":{"host_calls":10}`, `,"limits":{"host_calls":11}`, "limit", "limits.host_calls"},
		"wall":          {"policy", `,"limits":{"wall":"1s"}`, `,"limits":{"wall":"2s"}`, "limit", "limits.wall"},
		"memory":        {"policy", `,"limits":{"memory_pages":10}`, `,"limits":{"memory_pages":11}`, "limit", "limits.memory_pages"},
		"output":        {"policy", `,"limits":{"output_bytes":10}`, `,"limits":{"output_bytes":11}`, "limit", "limits.output_bytes"},
		"log":           {"policy", `,"limits":{"log_bytes":10}`, `,"limits":{"log_bytes":11}`, "limit", "limits.log_bytes"},
		"default limit": {"policy", `,"limits":{"wall":"1s"}`, ``, "limit", "limits.wall"},
		"match":         {"policy", `,"match":{"tools":["exec","write_file"]}`, `,"match":{"tools":["exec"]}`, "match", "match.tools"},
		"match of all":  {"policy", ``, `,"match":{"tools":["exec"]}`, "match", "match.tools"},
	} {
		t.Run(name, func(t *testing.T) {
			narrow, wide := answering(t, manifestOf(c.kind, c.less), allows), answering(t, manifestOf(c.kind, c.more), allows)
			if diff := cmp.Diff([]head{{Widens, c.what, c.where}}, compared(t, narrow, wide)); diff != "" {
				t.Errorf("more (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]head{{Narrows, c.what, c.where}}, compared(t, wide, narrow)); diff != "" {
				t.Errorf("less (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitAboveTheUsualDefaultWidens(t *testing.T) {
	before, after := answering(t, manifestOf("policy", ""), allows), answering(t, manifestOf("policy", `,"limits":{"wall":"3s"}`), allows)
	if diff := cmp.Diff([]head{{Widens, "limit", "limits.wall"}}, compared(t, before, after)); diff != "" {
		t.Error(diff)
	}
}

func TestPatternThatAnotherCoversIsNotMissed(t *testing.T) {
	before := answering(t, manifestOf("policy", `,"match":{"tools":["pska_search"]}`), allows)
	for _, globs := range []string{`["pska_*"]`, `["*"]`, `["**"]`} {
		after := answering(t, manifestOf("policy", `,"match":{"tools":`+globs+`}`), allows)
		if diff := cmp.Diff([]head{{Narrows, "match", "match.tools"}}, compared(t, before, after)); diff != "" {
			t.Errorf("%s: %s", globs, diff)
		}
	}
}

func TestNewImportWidensWithItsCapability(t *testing.T) {
	before := answering(t, manifestOf("tool", ""), allows, "wasi_snapshot_preview1 fd_write \x04")
	after := answering(t, manifestOf("tool", ""), allows, "wasi_snapshot_preview1 fd_write \x04", "fastreact:emit/1 chunk \x03")
	want := []head{{Widens, "import", "fastreact:emit/1 chunk"}, {Widens, "capability", "progress"}}
	if diff := cmp.Diff(want, compared(t, before, after)); diff != "" {
		t.Error(diff)
	}
	want = []head{{Narrows, "import", "fastreact:emit/1 chunk"}, {Narrows, "capability", "progress"}}
	if diff := cmp.Diff(want, compared(t, after, before)); diff != "" {
		t.Error(diff)
	}
}

func TestImportOfTheBaseSetIsNeutral(t *testing.T) {
	before, after := answering(t, policy, allows), answering(t, policy, allows, "wasi_snapshot_preview1 fd_write \x04")
	if heads := compared(t, before, after); len(heads) > 0 {
		t.Error(heads)
	}
}

func TestOtherKindOrNameWidens(t *testing.T) {
	before, after := answering(t, policy, allows), answering(t, `{"abi":1,"name":"q","version":"1","kind":"scope"}`, allows)
	if diff := cmp.Diff([]head{{Widens, "kind", "kind"}, {Widens, "name", "name"}}, compared(t, before, after)); diff != "" {
		t.Error(diff)
	}
}

func TestSameModuleChangesNothing(t *testing.T) {
	module := answering(t, policy, allows)
	if heads := compared(t, module, module); len(heads) > 0 {
		t.Error(heads)
	}
}

func TestNewToolWidensAndALostOneNarrows(t *testing.T) {
	one := `{"abi":1,"name":"p","version":"1","kind":"tool","tools":[{"name":"a","description":"A.","input_schema":{"type":"object"}}]}`
	two := `{"abi":1,"name":"p","version":"1","kind":"tool","tools":[{"name":"a","description":"A.","input_schema":{"type":"object"}},` +
		`{"name":"b","description":"B.","input_schema":{"type":"object"}}]}`
	before, after := answering(t, one, allows), answering(t, two, allows)
	if diff := cmp.Diff([]head{{Widens, "tool", "tools.b"}}, compared(t, before, after)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]head{{Narrows, "tool", "tools.b"}}, compared(t, after, before)); diff != "" {
		t.Error(diff)
	}
}

func TestToolThatLosesItsScopeWidens(t *testing.T) {
	scoped := `{"abi":1,"name":"p","version":"1","kind":"tool","tools":[{"name":"a","description":"A.","scope":true,"input_schema":{"type":"object"}}]}`
	free := `{"abi":1,"name":"p","version":"1","kind":"tool","tools":[{"name":"a","description":"A.","input_schema":{"type":"object"}}]}`
	if diff := cmp.Diff([]head{{Widens, "tool", "tools.a.scope"}}, compared(t, answering(t, scoped, allows), answering(t, free, allows))); diff != "" {
		t.Error(diff)
	}
}

func TestSchemaThatAcceptsLessNarrowsAndMoreWidens(t *testing.T) {
	for _, c := range []struct{ name, narrow, wide, where string }{
		{"required", `{"required":["a","b"]}`, `{"required":["a"]}`, "required"},
		{"required at all", `{"required":["a"]}`, `{}`, "required"},
		{"closed object", `{"additionalProperties":false}`, `{}`, "additionalProperties"},
		{"closed object to schema", `{"additionalProperties":false}`, `{"additionalProperties":{"type":"string"}}`, "additionalProperties"},
		{"bounded additional", `{"additionalProperties":{"type":"string"}}`, `{}`, "additionalProperties.type"},
		{"property of a closed object", `{"additionalProperties":false}`, `{"additionalProperties":false,"properties":{"a":{"type":"string"}}}`, "properties.a"},
		{"enum", `{"properties":{"a":{"enum":[1]}}}`, `{"properties":{"a":{"enum":[1,2]}}}`, "properties.a.enum"},
		{"enum at all", `{"properties":{"a":{"enum":[1]}}}`, `{"properties":{"a":{}}}`, "properties.a.enum"},
		{"const", `{"properties":{"a":{"const":1}}}`, `{"properties":{"a":{}}}`, "properties.a.const"},
		{"type", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":["string","null"]}}}`, "properties.a.type"},
		{"type at all", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{}}}`, "properties.a.type"},
		{"integer", `{"properties":{"a":{"type":"integer"}}}`, `{"properties":{"a":{"type":"number"}}}`, "properties.a.type"},
		{"pattern", `{"properties":{"a":{"pattern":"^a"}}}`, `{"properties":{"a":{}}}`, "properties.a.pattern"},
		{"format", `{"properties":{"a":{"format":"uri"}}}`, `{"properties":{"a":{}}}`, "properties.a.format"},
		{"maxLength", `{"properties":{"a":{"maxLength":9}}}`, `{"properties":{"a":{"maxLength":10}}}`, "properties.a.maxLength"},
		{"maximum at all", `{"properties":{"a":{"maximum":9.5}}}`, `{"properties":{"a":{}}}`, "properties.a.maximum"},
		{"minimum", `{"properties":{"a":{"minimum":2}}}`, `{"properties":{"a":{"minimum":1}}}`, "properties.a.minimum"},
		{"minItems", `{"properties":{"a":{"minItems":2}}}`, `{"properties":{"a":{"minItems":1}}}`, "properties.a.minItems"},
		{"items", `{"properties":{"a":{"items":{"maxLength":9}}}}`, `{"properties":{"a":{"items":{"maxLength":10}}}}`, "properties.a.items.maxLength"},
		{"anyOf", `{"anyOf":[{"a":1}]}`, `{"anyOf":[{"a":1},{"b":1}]}`, "anyOf"},
		{"nothing", `{"properties":{"a":false}}`, `{"properties":{"a":true}}`, "properties.a"},
		{"not", `{"not":{"required":["a"]}}`, `{}`, "not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, way := range []struct {
				old, now string
				effect   Effect
			}{{c.narrow, c.wide, Widens}, {c.wide, c.narrow, Narrows}} {
				want := []Change{{Effect: way.effect, Where: c.where}}
				got := bare(compareSchemas(json.RawMessage(way.old), json.RawMessage(way.now)))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s → %s (-want +got):\n%s", way.old, way.now, diff)
				}
			}
		})
	}
}

func bare(changes []Change) []Change {
	var out []Change
	for _, c := range changes {
		out = append(out, Change{Effect: c.Effect, Where: c.Where})
	}
	return out
}

func TestSchemaInDoubtWidens(t *testing.T) {
	for _, c := range [][2]string{
		{`{"pattern":"a"}`, `{"pattern":"b"}`},
		{`{"oneOf":[{"a":1},{"b":1}]}`, `{"oneOf":[{"a":1}]}`},
		{`{"if":{"a":1}}`, `{"if":{"a":2}}`},
		{`{"$ref":"#/a"}`, `{"$ref":"#/b"}`},
		{`{"$defs":{"a":{"maxLength":2}}}`, `{"$defs":{"a":{"maxLength":1}}}`},
		{`{"allOf":[{"a":1}]}`, `{"allOf":[{"a":1},{"b":1}]}`},
		{`{"patternProperties":{"^a":{}}}`, `{"patternProperties":{"^a":{"type":"string"}}}`},
		{`{"properties":{"a":{"type":"string"}}}`, `{"properties":{}}`},
		{`{"properties":{"a":true}}`, `{"properties":{"a":3}}`},
		{`{"unheard":1}`, `{"unheard":2}`},
		{`{"minimum":1}`, `{"minimum":"1"}`},
		{`{"enum":[1,2]}`, `{"enum":[3]}`},
		{`{"required":["a"]}`, `{"required":["b"]}`},
		{`{"additionalProperties":false,"patternProperties":{"a":{}},"properties":{"a":{"maxLength":1}}}`, `{"additionalProperties":false,"patternProperties":{"a":{}}}`},
	} {
		changes := compareSchemas(json.RawMessage(c[0]), json.RawMessage(c[1]))
		if len(changes) == 0 || changes[0].Effect != Widens {
			t.Errorf("%s → %s: %v", c[0], c[1], changes)
		}
	}
}

func TestWordsOfASchemaAreNeutral(t *testing.T) {
	before := `{"description":"a","properties":{"description":{"type":"string","title":"t"}}}`
	after := `{"description":"b","properties":{"description":{"type":"string"}},"default":{}}`
	for _, c := range compareSchemas(json.RawMessage(before), json.RawMessage(after)) {
		if c.Effect != Neutral {
			t.Errorf("%+v", c)
		}
	}
}

func TestSameSchemaInOtherWordsOrderIsEqual(t *testing.T) {
	if got := compareSchemas(json.RawMessage(`{"a":1.0,"b":[1]}`), json.RawMessage(`{ "b":[1], "a":1 }`)); len(got) > 0 {
		t.Error(got)
	}
}

func TestEveryLimitOfAManifestIsCompared(t *testing.T) {
	for name := range limitsOf(sdk.Limits{}) {
		d := &diff{}
		before, after := wasm.Inspection{Kind: sdk.KindTool}, wasm.Inspection{Kind: sdk.KindTool}
		for i, raw := range []string{"1", "2"} {
			if name == "wall" {
				raw = `"` + raw + `s"`
			}
			if err := json.Unmarshal([]byte(`{"`+name+`":`+raw+`}`), []*sdk.Limits{&before.Limits, &after.Limits}[i]); err != nil {
				t.Fatal(err)
			}
		}
		d.limits(before, after)
		if len(d.changes) != 1 || d.changes[0].Effect != Widens || d.changes[0].Where != "limits."+name {
			t.Errorf("%s: %+v", name, d.changes)
		}
	}
}

const judged = `{"abi":1,"name":"p","version":"1","kind":"policy","vectors":[{"name":"a script","op":"evaluate","input":{"tool":"exec"},"want":{"action":%q}}]}`

func TestLooserVerdictOnAShippedVectorWidens(t *testing.T) {
	strict := answering(t, fmt.Sprintf(judged, "deny"), `{"action":"deny"}`)
	loose := answering(t, fmt.Sprintf(judged, "require_approval"), `{"action":"require_approval"}`)
	silent := answering(t, policy, `{"action":"require_approval"}`)
	broken := answering(t, policy, `{"action":"maybe"}`)
	for name, c := range map[string]struct {
		before, after []byte
		effect        Effect
	}{
		"looser":                          {strict, loose, Widens},
		"stricter":                        {loose, strict, Narrows},
		"looser on the old one's vector":  {strict, silent, Widens},
		"looser than the new one's words": {silent, strict, Narrows},
		"failing":                         {loose, broken, Narrows},
		"no longer failing":               {broken, loose, Widens},
	} {
		t.Run(name, func(t *testing.T) {
			want := []head{{c.effect, "verdict", "vector a script"}}
			if diff := cmp.Diff(want, compared(t, c.before, c.after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInjectionThatIsAnotherWidens(t *testing.T) {
	scope := `{"abi":1,"name":"p","version":"1","kind":"scope","vectors":[{"name":"bounds","op":"inject","input":{"tool":"t","args":{},"scope":{"mode":"hard"}},"want":{"applied":true}}]}`
	before := answering(t, scope, `{"args":{"kb":"a"},"applied":true,"narrowed":[]}`)
	after := answering(t, scope, `{"args":{"kb":"b"},"applied":true,"narrowed":[]}`)
	if diff := cmp.Diff([]head{{Widens, "verdict", "vector bounds"}}, compared(t, before, after)); diff != "" {
		t.Error(diff)
	}
}

func TestOtherFunctionBehindAToolWidens(t *testing.T) {
	d := &diff{}
	one := sdk.ToolSpec{Name: "a", InputSchema: []byte(`{}`), Extism: &sdk.ExtismTool{Function: "one"}}
	two := one
	two.Extism = &sdk.ExtismTool{Function: "two"}
	d.tools([]sdk.ToolSpec{one}, []sdk.ToolSpec{two})
	if len(d.changes) != 1 || d.changes[0].Effect != Widens || d.changes[0].Where != "tools.a.extism" {
		t.Errorf("%+v", d.changes)
	}
}
