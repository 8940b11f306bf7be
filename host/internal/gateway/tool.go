package gateway

import "github.com/fastreact/fastreact/host/internal/run"

// The tools that the deterministic agent asks for by name.
const (
	toolSearch    = "investigation.search"
	toolNode      = "graph.get_node"
	toolNeighbors = "graph.get_neighbors"
	toolTrace     = "provenance.trace"
	toolState     = "research.get_state"
	toolPrepare   = "research.prepare"
)

// tool is one line of the catalogue.
type tool struct {
	id, title, description string
	input                  []field
}

// tools are the nine, in the contract's order.
func tools() []tool {
	object := []field{objectField("object_id")}
	return []tool{
		{toolSearch, "Search the investigation", "Finds up to eight objects whose recorded text holds the query.", []field{textField("query")}},
		{toolNode, "Read an object", "Reads one object of the investigation's graph.", object},
		{toolNeighbors, "Read an object's neighbours", "Reads up to 32 relations of one object and where they lead.", object},
		{"evidence.get_summary", "Read a summary", "Reads the type and label of one piece of evidence.", object},
		{"evidence.read_excerpt", "Read an excerpt", "Reads at most 512 characters of what is recorded about one piece of evidence.", object},
		{toolTrace, "Trace provenance", "Follows one object to what it was derived from.", object},
		{"jobs.get", "Read a job", "Reads one job of this workstation.", []field{objectField("job_id")}},
		{toolState, "Read the research state", "Reads the research plan, its grants and what came of its actions.", nil},
		{toolPrepare, "Prepare research", "Writes a research plan for a person to decide about. It authorises nothing and contacts nobody.", []field{
			distinct(listField("selection_ids", 1, maxSelection, objectField(""))), textField("question"),
			listField("exclusions", 0, maxExclusions, textField("")),
		}},
	}
}

// toolOf finds a tool by its id.
func toolOf(id string) (tool, bool) {
	for _, t := range tools() {
		if t.id == id {
			return t, true
		}
	}
	return tool{}, false
}

// name is the name under which the gate knows the tool.
func (t tool) name() string { return run.ToolName(t.id) }

// describe is the tool's descriptor while nothing keeps it from working.
func (t tool) describe() Descriptor {
	d := Descriptor{
		ToolID: t.id, ToolVersion: "1", CapabilityID: "labfy.capability." + t.id + ".v1", CapabilityVersion: "1",
		Title: t.title, Description: t.description, InputSchema: closedSchema(t.input), OutputContract: resultContract,
		ActionClass: "READ_ONLY", NetworkContact: "NONE", AuthorizationRequirement: "NONE",
		RiskClass: "LOW", CostClass: "BOUNDED", Availability: "AVAILABLE",
	}
	if t.id == toolPrepare {
		d.ActionClass, d.AuthorizationRequirement, d.RiskClass = "PREPARE_AUTHORIZATION", "HUMAN_GRANT", "MODERATE"
	}
	return d
}
