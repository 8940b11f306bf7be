package gateway

import (
	"context"
	"encoding/json"
)

// Catalog is the list of the nine tools.
type Catalog struct {
	Tools []Descriptor
}

// Descriptor is what clients learn of a tool. Nothing in it may be derived from the tool's name.
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
	return Catalog{}
}
