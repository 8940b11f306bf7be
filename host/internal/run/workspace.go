package run

import "github.com/fastreact/fastreact/sdk"

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
