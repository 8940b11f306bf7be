package gateway

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
)

const resultContract = "labfy.agent_tool_result.v1"

// document is a result as it is served. It stands here because its size is what the bound on results counts.
type document struct {
	Contract       string          `json:"contract"`
	ResultID       string          `json:"result_id"`
	TurnID         string          `json:"turn_id"`
	CallID         string          `json:"call_id"`
	ToolID         string          `json:"tool_id"`
	State          State           `json:"state"`
	Output         json.RawMessage `json:"output"`
	ObjectRefs     []reference     `json:"object_refs"`
	Artifacts      []string        `json:"artifacts"`
	Observations   []string        `json:"observations"`
	ProvenanceRefs []reference     `json:"provenance_refs"`
	Diagnostic     *string         `json:"diagnostic"`
}

type reference struct {
	ObjectID string `json:"object_id"`
}

// encode writes the result's document.
func (r *Result) encode() {
	d := document{
		Contract: resultContract, ResultID: r.ID, TurnID: r.TurnID, CallID: r.CallID, ToolID: r.ToolID,
		State: r.State, Output: r.Output, ObjectRefs: references(r.ObjectRefs), Artifacts: []string{},
		Observations: []string{}, ProvenanceRefs: references(r.ProvenanceRefs),
	}
	if r.Diagnostic != "" {
		d.Diagnostic = &r.Diagnostic
	}
	r.Encoded = run.EncodeOwn(d)
}

func references(ids []string) []reference {
	list := make([]reference, 0, len(ids))
	for _, id := range ids {
		list = append(list, reference{id})
	}
	return list
}

// fail makes the result one of a call that did not go well: it holds nothing of what the tool said.
func (r *Result) fail(d diagnosis) {
	r.State, r.Diagnostic = d.state, d.sentence
	r.Output, r.ProvenanceRefs, r.PlanID = emptyObject(), []string{}, ""
}

// succeed reads what a tool answered. Prepared research waits for a person, whatever else it says.
func (r *Result) succeed(w wish, content string) {
	answer, ok := readAnswer(content)
	if !ok || w.tool.id == toolPrepare && answer.planID == "" {
		r.fail(diagnose(unreadable))
		return
	}
	r.State, r.Output, r.ProvenanceRefs = Completed, answer.output, answer.provenance
	if len(r.ObjectRefs) == 0 {
		r.ObjectRefs = answer.refs
	}
	if w.tool.id == toolPrepare {
		r.State, r.PlanID = AuthorizationRequired, answer.planID
	}
}

func emptyObject() json.RawMessage { return json.RawMessage(`{}`) }
