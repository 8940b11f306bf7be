package run

import (
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// AgentTools is the profile of calls in a configured workspace, which keep no run. It opens the tools that are reserved
// for it; no client chooses it.
const AgentTools = "agent-tools"

// CallIn begins a call in a configured workspace that may be of these tools alone, by registered name and sorted. The
// identity never leads to the folder: Workspace does.
func CallIn(workspace string, tools ...string) Call {
	return Call{
		Identity:   sdk.Identity{UserKey: AgentTools + ":" + workspace, UserID: workspace, Caller: AgentTools},
		ToolPolicy: ToolPolicy{Mode: Allowlist, Allowed: tools, Profile: AgentTools},
		Workspace:  workspace, Unkept: true,
	}
}

// ToolID is what the agent tool protocol calls the tool of a registered name: graph.get_node for graph_get_node, since
// models take no dots.
func ToolID(name string) string { return strings.Replace(name, "_", ".", 1) }

// ToolName is the registered name of a tool of the protocol.
func ToolName(id string) string { return strings.Replace(id, ".", "_", 1) }
