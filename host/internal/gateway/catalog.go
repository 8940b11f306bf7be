package gateway

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Catalog is the list of the nine tools.
type Catalog struct {
	Tools []Descriptor
}

// Descriptor is what clients learn of a tool: nobody has to derive anything from its name.
type Descriptor struct {
	ToolID, ToolVersion             string
	CapabilityID, CapabilityVersion string
	Title, Description              string
	InputSchema                     json.RawMessage // a closed JSON Schema
	OutputContract                  string
	ActionClass                     string
	NetworkContact                  string
	AuthorizationRequirement        string
	RiskClass, CostClass            string
	Availability                    string // AVAILABLE or UNAVAILABLE
	UnavailableReason               string // a fixed sentence; empty when available
}

// Catalog returns the nine tools in the contract's order, each with whether it works now in the active workspace.
func (g *Gateway) Catalog(ctx context.Context) Catalog {
	workspace := g.Active()
	visible := g.cfg.Gate.Visible(ctx, run.CallIn(workspace, names()...).ToolPolicy)
	catalog := Catalog{}
	for _, tool := range tools() {
		d := tool.describe()
		if obstacle := g.obstacle(ctx, workspace, tool, visible); obstacle != "" {
			d.Availability, d.UnavailableReason = "UNAVAILABLE", diagnose(obstacle).sentence
		}
		catalog.Tools = append(catalog.Tools, d)
	}
	return catalog
}

// obstacle is what keeps a tool from working, or nothing.
func (g *Gateway) obstacle(ctx context.Context, workspace string, tool tool, visible []run.Tool) trouble {
	stands := slices.ContainsFunc(visible, func(t run.Tool) bool { return t.Name == tool.name() })
	switch {
	case workspace == "":
		return noWorkspace
	case !stands:
		return notLoaded
	case g.cfg.Ready == nil:
		return ""
	}
	return trouble(g.cfg.Ready(ctx, workspace, tool.id))
}

// names are those under which the gate knows the nine tools, sorted.
func names() []string {
	var list []string
	for _, tool := range tools() {
		list = append(list, tool.name())
	}
	slices.Sort(list)
	return list
}
