package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/fastreact/fastreact/sdk"
)

func catalogOf(entries ...string) catalog {
	var raw []json.RawMessage
	for _, entry := range entries {
		raw = append(raw, json.RawMessage(entry))
	}
	return newCatalog(raw, Server{Name: "s", Description: "the server"}, "endpoint", namesOf("s"))
}

func TestOddToolsAreQuarantinedAndTheOthersWork(t *testing.T) {
	c := catalogOf(
		tool("good"),
		`{"name":"text_schema","inputSchema":"object"}`,
		`{"name":"no_schema"}`,
		`{"name":"null_schema","inputSchema":null}`,
		`{"name":"array_schema","inputSchema":{"type":"array"}}`,
		`{"name":"typeless","inputSchema":{"properties":{}}}`,
		`{"name":"list_properties","inputSchema":{"type":"object","properties":[]}}`,
		`{"name":"text_property","inputSchema":{"type":"object","properties":{"a":"string"}}}`,
		`{"name":"wrong_type","inputSchema":{"type":"object","properties":{"a":{"type":"strnig"}}}}`,
		`{"name":"deep_wrong","inputSchema":{"type":"object","properties":{"a":{"items":{"anyOf":[{"type":7}]}}}}}`,
		`{"name":"wrong_required","inputSchema":{"type":"object","required":true}}`,
		`{"name":"wrong_enum","inputSchema":{"type":"object","properties":{"a":{"enum":"x"}}}}`,
		`{"name":7,"inputSchema":{"type":"object"}}`,
		`{"name":"","inputSchema":{"type":"object"}}`,
		`{"name":"new\nline","inputSchema":{"type":"object"}}`,
		`"no object"`,
		`null`,
	)
	if len(c.tools) != 1 || c.tools[0].RawName != "good" {
		t.Errorf("kept %+v", c.tools)
	}
	want := []string{
		"#12", "#13", "#15", "#16", "array_schema", "deep_wrong", "list_properties", "newline", "no_schema", "null_schema",
		"text_property", "text_schema", "typeless", "wrong_enum", "wrong_required", "wrong_type",
	}
	if diff := cmp.Diff(want, c.quarantined); diff != "" {
		t.Error(diff)
	}
}

func TestNameUsedTwiceIsQuarantinedAltogether(t *testing.T) {
	c := catalogOf(tool("twice"), tool("once"), tool("twice"), tool("twice"))
	if diff := cmp.Diff([]string{"twice"}, c.quarantined); diff != "" {
		t.Error(diff)
	}
	if len(c.tools) != 1 || c.tools[0].RawName != "once" {
		t.Errorf("kept %+v", c.tools)
	}
}

func TestSchemaIsKeptAsSent(t *testing.T) {
	schema := `{ "$schema":"x", "type":"object", "properties":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":["string","null"]}]}},` +
		`"patternProperties":{"^x":{}},"$defs":{"b":true},"additionalProperties":false,"x-odd":[1.0,2e3] }`
	c := catalogOf(`{"name":"a","inputSchema":` + schema + `}`)
	if len(c.tools) != 1 || string(c.tools[0].InputSchema) != schema {
		t.Errorf("got %+v", c)
	}
}

func TestServerDescriptionStandsInForAMissingOne(t *testing.T) {
	c := catalogOf(tool("bare"), `{"name":"odd","description":7,"inputSchema":{"type":"object"}}`, `{"name":"told","description":"told","inputSchema":{"type":"object"}}`)
	got := []string{c.tools[0].Description, c.tools[1].Description, c.tools[2].Description}
	if diff := cmp.Diff([]string{"the server", "the server", "told"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSchemaBombIsQuarantined(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 1000) + `{}` + strings.Repeat(`}`, 1000)
	c := catalogOf(`{"name":"deep","inputSchema":{"type":"object","not":`+deep+`}}`,
		`{"name":"long","inputSchema":{"type":"object","description":"`+strings.Repeat("x", maxSchemaBytes)+`"}}`)
	if diff := cmp.Diff([]string{"deep", "long"}, c.quarantined); diff != "" {
		t.Error(diff)
	}
}

func TestToolsBeyondTheLimitAreQuarantined(t *testing.T) {
	entries := []string{`{"name":"told","description":"` + strings.Repeat("x", maxDescription+1) + `","inputSchema":{"type":"object"}}`}
	for i := len(entries); i < maxTools; i++ {
		entries = append(entries, tool(fmt.Sprint("t", i)))
	}
	c := catalogOf(append(entries, tool("beyond"), tool(strings.Repeat("n", maxToolName+1)))...)
	if len(c.tools) != maxTools || len(c.quarantined) != 2 || c.reasons["beyond"] != "server offers more than 2000 tools" {
		t.Errorf("%d tools, quarantined %.80q", len(c.tools), c.quarantined)
	}
	told := slices.IndexFunc(c.tools, func(one sdk.NativeTool) bool { return one.RawName == "told" })
	if len(c.tools[told].Description) > maxDescription {
		t.Errorf("the description has %d bytes", len(c.tools[told].Description))
	}
}

func FuzzCatalogNeverOffersWhatItQuarantined(f *testing.F) {
	f.Add(tool("a"), tool("a"))
	f.Add(`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":{}}}}}`, `null`)
	f.Fuzz(func(t *testing.T, one, two string) {
		c := catalogOf(one, two)
		for _, tool := range c.tools {
			if _, refused := c.reasons[tool.RawName]; refused {
				t.Errorf("%q is both offered and quarantined", tool.RawName)
			}
		}
	})
}

// endlessWire answers every tools/list with one more page.
type endlessWire struct {
	quietWire
	page  string
	asked *int
}

func (w endlessWire) SendRequest(context.Context, transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	*w.asked++
	return &transport.JSONRPCResponse{Result: fmt.Appendf(nil, `{"tools":[%s],"nextCursor":"%d"}`, w.page, *w.asked)}, nil
}

func TestToolListWithoutEndIsLeftAfterAHundredPages(t *testing.T) {
	asked := 0
	entries, err := newSession(endlessWire{quietWire{newMortality()}, tool("work"), &asked}, "", replies{}).list(context.Background())
	if len(entries) != maxListPages || err != nil || asked != maxListPages {
		t.Errorf("%d entries of %d pages, %v", len(entries), asked, err)
	}
}

func TestToolListBeyondEveryBoundIsRefused(t *testing.T) {
	asked := 0
	page := `"` + strings.Repeat("x", maxListBytes/4) + `"`
	_, err := newSession(endlessWire{quietWire{newMortality()}, page, &asked}, "", replies{}).list(context.Background())
	if !errors.Is(err, errTooLarge) || asked != 4 {
		t.Errorf("%d pages, %v", asked, err)
	}
}
