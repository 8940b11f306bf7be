package client

import (
	"context"
	"encoding/json"
	"time"
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
	Store struct {
		Driver    string `json:"driver"`
		Ready     bool   `json:"ready"`
		LastError string `json:"last_error"`
		Nodes     []Node `json:"nodes"`
		SameName  bool   `json:"same_name"` // two nodes that are alive share a name
	} `json:"store"`

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// Node is one process of the service.
type Node struct {
	Name        string    `json:"name"`
	Incarnation string    `json:"incarnation"`
	Since       time.Time `json:"since"`
	Seen        time.Time `json:"seen"`
	Runs        int       `json:"runs"` // that it drives
	Self        bool      `json:"self"` // it is the one that answered
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
