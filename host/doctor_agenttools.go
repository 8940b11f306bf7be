package host

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/fastreact/fastreact/host/internal/capability"
	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// modelPatience bounds the wait for a connection to a local model.
const modelPatience = 5 * time.Second

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
	if tools.runtimeMode() == modeModel {
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

// snapshot is one file of a workspace, and a call that reads it and finds nothing.
type snapshot struct{ file, tool, args, nothing string }

func snapshots() []snapshot {
	const nobody = `"00000000-0000-0000-0000-000000000000"`
	return []snapshot{
		{coreSnapshot, objectReader, `{"object_id":` + nobody + `}`, "object_unknown"},
		{jobsSnapshot, "jobs_get", `{"job_id":` + nobody + `}`, "job_unknown"},
	}
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

// errReader is why nobody can say whether a snapshot can be read.
var errReader = errors.New("the reader failed")

// askReader returns the code of what keeps a snapshot from being read, or nothing. An error says that nobody knows.
func askReader(ctx context.Context, cfg Config, workspace string, file snapshot, residents []*resident) (code string, err error) {
	door, err := readersDoor(cfg, residents)
	if err != nil {
		return "", err
	}
	outcome := door.Do(ctx, door.Check(ctx, readerCall(workspace, file.tool, json.RawMessage(file.args))), nil)
	var answer struct {
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(outcome.Content), &answer) != nil || answer.Error == "" {
		return "", errReader
	}
	if answer.Error == file.nothing {
		return "", nil
	}
	return answer.Error, nil
}

// readersDoor is a gate of its own: what is examined is no call of anybody, and stands in no books.
func readersDoor(cfg Config, residents []*resident) (*gate.Gate, error) {
	tools, err := newWasmTools(toolsOf(residents), folders{
		root: cfg.Workspace.Root, quotas: capability.NewQuotas(capability.Quota{}), configured: cfg.AgentTools.Workspaces,
	})
	if err != nil {
		return nil, err
	}
	rules, err := policy.Compile(policy.Config{})
	if err != nil {
		return nil, err
	}
	regime := gate.Regime{Sources: []gate.Source{tools}, Rules: rules}
	return newGate(regime, noBooks{}, cfg.Tools.Timeout, slog.New(slog.DiscardHandler))
}

// noBooks keeps no record.
type noBooks struct{}

// Record keeps nothing.
func (noBooks) Record(context.Context, run.Fence, run.Audit) error { return nil }

// Note keeps nothing.
func (noBooks) Note(context.Context, run.Audit) error { return nil }

// toolsOf returns the plugins that offer tools.
func toolsOf(residents []*resident) []*resident {
	return (&generation{residents: residents}).kindOf(sdk.KindTool)
}

// examineLocalModel opens a connection to the local model, and sends nothing.
func examineLocalModel(ctx context.Context, tools AgentToolsConfig) Finding {
	found := Finding{Part: "local model", Health: Works, Says: tools.Endpoint + " takes connections; it was asked nothing"}
	endpoint, err := url.Parse(tools.Endpoint)
	if err == nil {
		ctx, stop := context.WithTimeout(ctx, modelPatience)
		defer stop()
		var connection net.Conn
		if connection, err = new(net.Dialer).DialContext(ctx, "tcp", endpoint.Host); err == nil {
			err = connection.Close()
		}
	}
	if err != nil {
		return Finding{"local model", Broken, err.Error(), "start the server of agent_tools.endpoint"}
	}
	return found
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
