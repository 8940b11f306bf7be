package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestTheCatalogueHoldsTheNineToolsInTheirOrder(t *testing.T) {
	type line struct{ id, capability, action, network, authorization, risk, cost, available string }
	read := func(id string) line {
		return line{id, "labfy.capability." + id + ".v1", "READ_ONLY", "NONE", "NONE", "LOW", "BOUNDED", "AVAILABLE"}
	}
	want := []line{
		read("investigation.search"), read("graph.get_node"), read("graph.get_neighbors"), read("evidence.get_summary"),
		read("evidence.read_excerpt"), read("provenance.trace"), read("jobs.get"), read("research.get_state"),
		{"research.prepare", "labfy.capability.research.prepare.v1", "PREPARE_AUTHORIZATION", "NONE", "HUMAN_GRANT", "MODERATE", "BOUNDED", "AVAILABLE"},
	}
	var got []line
	for _, d := range newWorld(t).open().Catalog(context.Background()).Tools {
		got = append(got, line{
			d.ToolID, d.CapabilityID, d.ActionClass, d.NetworkContact, d.AuthorizationRequirement,
			d.RiskClass, d.CostClass, d.Availability,
		})
		if d.ToolVersion != "1" || d.CapabilityVersion != "1" || d.OutputContract != "labfy.agent_tool_result.v1" ||
			d.Title == "" || d.Description == "" || d.UnavailableReason != "" {
			t.Errorf("descriptor of %s: %+v", d.ToolID, d)
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(line{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEverySchemaIsClosedAndAsksForAllItHas(t *testing.T) {
	for _, d := range newWorld(t).open().Catalog(context.Background()).Tools {
		var schema struct {
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
			Additional *bool          `json:"additionalProperties"`
		}
		if err := json.Unmarshal(d.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		if schema.Additional == nil || *schema.Additional || len(schema.Required) != len(schema.Properties) {
			t.Errorf("schema of %s: %s", d.ToolID, d.InputSchema)
		}
	}
}

// What the catalogue shows and what is taken must not part: a client that obeys the schema is never refused.
func TestAnInputIsTakenWhenItsSchemaTakesIt(t *testing.T) {
	long, tooLong := strings.Repeat("é", 512), strings.Repeat("é", 513)
	for _, d := range newWorld(t).open().Catalog(context.Background()).Tools {
		compiled := compileSchema(t, d.InputSchema)
		for _, input := range []string{
			`{}`, `{"query":"a"}`, `{"query":""}`, `{"query":" \t"}`, `{"query":"` + long + `"}`, `{"query":"` + tooLong + `"}`,
			`{"query":7}`, `{"query":null}`, `{"query":"a","more":1}`, `{"object_id":"` + node + `"}`,
			`{"object_id":"` + someTurn + `"}`, `{"object_id":"` + strings.ToUpper(someTurn) + `"}`, `{"object_id":"node-7"}`,
			`{"object_id":"a:b:` + someTurn + `"}`, `{"object_id":"` + someTurn + `\n"}`, `{"job_id":"` + someTurn + `"}`, `{"job_id":"7"}`,
			`{"selection_ids":["` + node + `"],"question":"a","exclusions":[]}`,
			`{"selection_ids":[],"question":"a","exclusions":[]}`,
			`{"selection_ids":["` + node + `","` + node + `"],"question":"a","exclusions":[]}`,
			`{"selection_ids":["` + node + `"],"question":"a"}`,
			`{"selection_ids":null,"question":"a","exclusions":[]}`,
			`{"selection_ids":["` + node + `"],"question":"a","exclusions":null}`,
			`{"selection_ids":["` + node + `"],"question":"a","exclusions":["x","y"]}`,
			`{"selection_ids":["` + node + `"],"question":"a","exclusions":[""]}`,
			`{"selection_ids":["` + node + `"],"question":"a","exclusions":["1","2","3","4","5","6","7","8","9"]}`,
			`{"selection_ids":[` + strings.Repeat(`"`+node+`",`, 8) + `"` + node + `"],"question":"a","exclusions":[]}`,
		} {
			var value any
			if err := json.Unmarshal([]byte(input), &value); err != nil {
				t.Fatal(err)
			}
			fits := compiled.Validate(value) == nil
			_, err := readRequest(request(d.ToolID, input))
			if taken := err == nil; taken != fits {
				t.Errorf("%s %s: taken %v, the schema says %v", d.ToolID, input, taken, fits)
			}
		}
	}
}

func compileSchema(t *testing.T, schema json.RawMessage) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("input.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("input.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestAToolIsShownAsUnavailableWhenItCouldNotRun(t *testing.T) {
	w := newWorld(t)
	w.source.missing = "jobs.get"
	w.cfg.Ready = func(_ context.Context, workspace, toolID string) string {
		if workspace == harbour && toolID == "graph.get_node" {
			return "snapshot_missing"
		}
		return ""
	}
	g := w.open()
	want := map[string]string{"jobs.get": "The tool is not loaded.", "graph.get_node": "The workspace has no snapshot."}
	for _, d := range g.Catalog(context.Background()).Tools {
		reason := want[d.ToolID]
		if d.UnavailableReason != reason || (d.Availability == "AVAILABLE") != (reason == "") {
			t.Errorf("%s: %s %q, want reason %q", d.ToolID, d.Availability, d.UnavailableReason, reason)
		}
	}
}

func TestWithoutAWorkspaceNoToolIsAvailable(t *testing.T) {
	w := newWorld(t)
	w.cfg.Active = ""
	for _, d := range w.open().Catalog(context.Background()).Tools {
		if d.Availability != "UNAVAILABLE" || d.UnavailableReason != "No workspace is active." {
			t.Errorf("%s: %s %q", d.ToolID, d.Availability, d.UnavailableReason)
		}
	}
}

func TestAReasonOfItsOwnMakingNeverReachesTheCatalogue(t *testing.T) {
	w := newWorld(t)
	w.cfg.Ready = func(context.Context, string, string) string { return "open /home/ada/core-snapshot.json: no such file" }
	for _, d := range w.open().Catalog(context.Background()).Tools {
		if d.UnavailableReason != "The tool failed." {
			t.Errorf("%s: %q", d.ToolID, d.UnavailableReason)
		}
	}
}
