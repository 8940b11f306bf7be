package host

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/capability"
	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// The files of a workspace.
const (
	coreSnapshot = "core-snapshot.json"
	jobsSnapshot = "jobs-snapshot.json"
)

// snapshot is one file of a workspace, and a call that reads it and finds nothing.
type snapshot struct{ file, tool, args, nothing string }

func snapshots() []snapshot {
	const nobody = `"00000000-0000-0000-0000-000000000000"`
	return []snapshot{
		{coreSnapshot, objectReader, `{"object_id":` + nobody + `}`, "object_unknown"},
		{jobsSnapshot, "jobs_get", `{"job_id":` + nobody + `}`, "job_unknown"},
	}
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
