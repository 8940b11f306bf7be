package fastreact

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

type indexBody struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Contract  string   `json:"service_contract"`
	Endpoints []string `json:"endpoints"`
}

func (f *face) index(x *web.Exchange) error {
	body := indexBody{Name: "FastReAct", Version: f.cfg.Version, Contract: Schema}
	for _, route := range f.routes() {
		body.Endpoints = append(body.Endpoints, route.Method+" "+route.Path)
	}
	return x.JSON(http.StatusOK, body)
}

type modelList struct {
	Object string      `json:"object"`
	Data   []wireModel `json:"data"`
}

type wireModel struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// models lists the configured model, for clients that ask before they chat.
func (f *face) models(x *web.Exchange) error {
	return x.JSON(http.StatusOK, modelList{"list", []wireModel{{f.cfg.Model, "model", 0, "fastreact"}}})
}

type toolList struct {
	Tools     []string      `json:"tools"`
	MCPTools  []string      `json:"mcp_tools"`
	Summaries []toolSummary `json:"tool_summaries"`
}

type toolSummary struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Parameters  []string `json:"parameters"`
	Source      string   `json:"source"`
	Plugin      string   `json:"plugin"`
}

func (f *face) tools(x *web.Exchange) error {
	list := toolList{Tools: []string{}, MCPTools: []string{}, Summaries: []toolSummary{}}
	for _, tool := range f.cfg.Inspector.Tools(x.Request.Context()) {
		list.Tools = append(list.Tools, tool.Name)
		if tool.Source == run.FromMCP {
			list.MCPTools = append(list.MCPTools, tool.Name)
		}
		if x.Caller.Standing == web.Bare {
			tool.Plugin = "" // what is behind a tool is not for everybody
		}
		list.Summaries = append(list.Summaries, toolSummary{
			tool.Name, tool.Description, parametersOf(tool.Schema), string(tool.Source), tool.Plugin,
		})
	}
	return x.JSON(http.StatusOK, list)
}

// parametersOf returns the names of the properties that a schema declares, sorted.
func parametersOf(schema json.RawMessage) []string {
	var declared struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(orObject(schema), &declared) != nil {
		return []string{}
	}
	return orEmpty(slices.Sorted(maps.Keys(declared.Properties)))
}
