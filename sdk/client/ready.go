package client

import (
	"context"
	"encoding/json"
)

// Readiness is the service's word about itself and what it depends on.
type Readiness struct {
	Status          string `json:"status"` // ready or degraded
	AgentReady      bool   `json:"agent_ready"`
	ServiceContract string `json:"service_contract"`
	Model           struct {
		Name string `json:"name"`
	} `json:"model"`
	MCP struct {
		Ready   bool     `json:"ready"`
		Servers []Server `json:"servers"`
		Tools   []string `json:"tools"`
	} `json:"mcp"`

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// Server is the health of one MCP server.
type Server struct {
	Name      string `json:"name"`
	Alive     bool   `json:"alive"`
	ToolCount int    `json:"tool_count"`
	LastError string `json:"last_error"`
}

// Ready asks whether the service can work. It makes the service load its MCP servers.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	var readiness Readiness
	raw, err := c.get(ctx, "/ready", nil, &readiness)
	readiness.Raw = raw
	return readiness, err
}
