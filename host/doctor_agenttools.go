package host

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"

	"github.com/fastreact/fastreact/host/internal/localagent"
)

// examineAgentTools says whether the agent tools could serve. Their reader is among the residents, compiled.
func examineAgentTools(ctx context.Context, cfg Config, residents []*resident) []Finding {
	tools := cfg.AgentTools
	if !tools.wanted() {
		return nil
	}
	findings := []Finding{examineToolsAddr(tools)}
	for _, workspace := range sortedKeys(tools.Workspaces) {
		findings = append(findings, examineWorkspace(ctx, cfg, workspace, residents))
	}
	if tools.runtimeMode() == localagent.LocalModel {
		findings = append(findings, examineLocalModel(ctx, tools))
	}
	return append(findings, describeProviders(tools))
}

func examineToolsAddr(tools AgentToolsConfig) Finding {
	found := Finding{Part: "agent tools", Health: Works, Says: tools.Addr + " can be listened on"}
	listener, err := net.Listen("tcp", tools.Addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		found.Says = tools.Addr + " is in use, as it is while the service runs"
	case err != nil:
		return Finding{"agent tools", Broken, err.Error(), "check agent_tools.addr"}
	default:
		_ = listener.Close()
	}
	switch first := tools.firstWorkspace(); {
	case len(tools.Workspaces) == 0:
		found.Health, found.Do = Degrade, "name a folder with snapshots in agent_tools.workspaces"
		found.Says += "; there is no workspace"
	case first == "":
		found.Says += "; no workspace is active at first"
	default:
		found.Says += "; workspace " + first + " is active at first"
	}
	return found
}

// examineWorkspace reads the snapshots of a workspace as the service would.
func examineWorkspace(ctx context.Context, cfg Config, workspace string, residents []*resident) Finding {
	found := Finding{Part: "workspace " + workspace, Health: Works}
	said := []string{}
	for _, file := range snapshots() {
		health, problem := readSnapshot(ctx, cfg, workspace, file, residents)
		if health != Works {
			problem = file.file + " " + problem
			found.Do = "see to the file in agent_tools.workspaces." + workspace
		} else {
			problem = file.file + " can be read"
		}
		if found.Health != Broken && health != Works {
			found.Health = health
		}
		said = append(said, problem)
	}
	found.Says = strings.Join(said, "; ")
	return found
}

func readSnapshot(ctx context.Context, cfg Config, workspace string, file snapshot, residents []*resident) (Health, string) {
	code, err := askReader(ctx, cfg, workspace, file, residents)
	switch {
	case err != nil:
		return Broken, "cannot be read: " + err.Error()
	case code == "":
		return Works, ""
	case code == snapshotMissing:
		return Degrade, "is not there: the tools that need it are unavailable"
	case code == snapshotTooLarge:
		return Broken, "is beyond a bound, and is refused whole"
	}
	return Broken, "is no snapshot that can be read"
}

// examineLocalModel opens a connection to the local model, and sends nothing.
func examineLocalModel(ctx context.Context, tools AgentToolsConfig) Finding {
	model, err := tools.localModel()
	if err == nil {
		err = model.Reachable(ctx)
	}
	if err != nil {
		return Finding{"local model", Broken, err.Error(), "start the server of agent_tools.endpoint"}
	}
	return Finding{Part: "local model", Health: Works, Says: tools.Endpoint + " takes connections; it was asked nothing"}
}

// describeProviders names the providers. They are not asked: that needs a person's grant.
func describeProviders(tools AgentToolsConfig) Finding {
	if len(tools.Providers) == 0 {
		return Finding{Part: "providers", Health: Works, Says: "none: nobody is ever contacted"}
	}
	names := []string{}
	for _, provider := range tools.Providers {
		names = append(names, provider.ID)
	}
	return Finding{Part: "providers", Health: Works, Says: listOf(names) + "; not asked: that needs a person's grant"}
}
