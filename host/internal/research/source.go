package research

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// The tools' registered names.
const (
	ToolState   = "research_get_state"
	ToolPrepare = "research_prepare"
	ToolContact = "research_contact"
)

const (
	stateSchema   = `{"type":"object","properties":{},"additionalProperties":false}`
	textSchema    = `{"type":"string","minLength":1,"maxLength":512,"pattern":"\\S"}`
	prepareSchema = `{"type":"object","properties":{` +
		`"selection_ids":{"type":"array","items":{"type":"string","pattern":"` + run.ObjectIDPattern + `"},` +
		`"minItems":1,"maxItems":8,"uniqueItems":true},` +
		`"question":` + textSchema + `,"exclusions":{"type":"array","items":` + textSchema + `,"maxItems":8}},` +
		`"required":["selection_ids","question","exclusions"],"additionalProperties":false}`
	contactSchema = `{"type":"object","properties":{` +
		`"action_id":{"type":"string"},"capability_id":{"type":"string"},"provider_id":{"type":"string"},` +
		`"subject":{"type":"string"},"question":{"type":"string"},` +
		`"max_response_bytes":{"type":"integer"},"max_active_ms":{"type":"integer"}},` +
		`"required":["action_id","capability_id","provider_id","subject","question","max_response_bytes","max_active_ms"],` +
		`"additionalProperties":false}`
)

// tools are what the gate is offered. The digest of the one that contacts covers where the providers are: whoever of
// them changes makes it another tool.
func tools(providers []Provider) []run.Tool {
	made := []run.Tool{
		{Name: ToolState, Description: "Reads the state of the workspace's research.", Schema: json.RawMessage(stateSchema)},
		{Name: ToolPrepare, Description: "Prepares a research plan for a person to decide. It grants nothing and contacts nobody.", Schema: json.RawMessage(prepareSchema)},
		{Name: ToolContact, Description: "Asks a provider, under a person's grant.", Schema: json.RawMessage(contactSchema), Asks: true},
	}
	for i, tool := range made {
		identity := []string{tool.Name, tool.Description, string(tool.Schema)}
		if tool.Name == ToolContact {
			for _, p := range providers {
				identity = append(identity, p.ID, p.URL)
			}
		}
		raw, err := json.Marshal(identity)
		if err != nil {
			raw = nil // a list of texts is always JSON
		}
		made[i].RawName = run.ToolID(tool.Name)
		made[i].Source, made[i].Plugin, made[i].Profile, made[i].Digest = run.FromNative, "research", run.AgentTools, run.Digest(raw)
	}
	return made
}

// Tools lists the tools.
func (d *Desk) Tools(context.Context) []run.Tool { return append([]run.Tool{}, d.tools...) }

// Invoke runs one of them for the workspace that the host chose, and for no other.
func (d *Desk) Invoke(ctx context.Context, tool run.Tool, call sdk.Call) (sdk.Result, error) {
	switch tool.Name {
	case ToolState:
		return answered(d.Snapshot(ctx, call.Workspace))
	case ToolPrepare:
		asked, err := readPreparation(call.Args)
		if err != nil {
			return answered(Snapshot{}, err)
		}
		return answered(d.Prepare(ctx, call.Workspace, asked))
	case ToolContact:
		return d.invokeContact(ctx, call)
	}
	return sdk.Result{}, errors.New("no such research tool")
}

func readPreparation(args json.RawMessage) (Preparation, error) {
	var asked struct {
		SelectionIDs []string `json:"selection_ids"`
		Question     string   `json:"question"`
		Exclusions   []string `json:"exclusions"`
	}
	if err := json.Unmarshal(args, &asked); err != nil {
		return Preparation{}, invalid("The arguments of a plan have another form.")
	}
	return Preparation{SelectionIDs: asked.SelectionIDs, Question: asked.Question, Exclusions: asked.Exclusions}, nil
}

// answered is a tool's answer: the snapshot's document, or the code of what stands against it. What has no code stays
// private.
func answered(s Snapshot, err error) (sdk.Result, error) {
	var public *run.Error
	if errors.As(err, &public) {
		return failed(toolCode(public))
	}
	if err != nil {
		return sdk.Result{}, err
	}
	document, err := Encode(s)
	if err != nil {
		return sdk.Result{}, err
	}
	return sdk.Result{Content: string(document)}, nil
}

// toolCode is the code of an error as the readers of the graph say it.
func toolCode(err *run.Error) string {
	var snapshot *run.Error
	switch {
	case errors.Is(err, errUnknownObject):
		return "object_unknown"
	case err.Code != CodeUnavailable:
		return string(err.Code)
	case errors.As(err.Cause, &snapshot) && strings.HasPrefix(string(snapshot.Code), "snapshot_"):
		return string(snapshot.Code)
	}
	return string(CodeUnavailable) // the reader is denied, or has failed: nothing is known of the snapshot
}

func failed(code string) (sdk.Result, error) {
	content, err := run.Encode(map[string]string{"error": code})
	return sdk.Result{Content: string(content), IsError: true}, err
}
