// Package investigation reads one investigation and changes nothing: it searches the objects of a graph, shows one with
// what it is linked to and where it comes from, and finds a job.
//
// It knows two files of one folder, core-snapshot.json and jobs-snapshot.json, and believes neither: one that is too
// large, ambiguous or broken is refused whole, with a code. Which folder that is, and who may ask, is the host's
// decision; what the texts in it say is data.
package investigation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/fastreact/fastreact/sdk"
)

// Plugin answers the seven readers. It keeps nothing between calls and may be used by many goroutines at once.
type Plugin struct {
	open func() (*os.Root, error)
}

// New returns a plugin over the folder that open opens. Every call opens it anew and closes it.
func New(open func() (*os.Root, error)) *Plugin { return &Plugin{open: open} }

// Call runs one reader; its answer is a JSON object. What the folder or the arguments make impossible is a Result with
// IsError and {"error": code}; an error means that there is no such tool or no folder.
func (p *Plugin) Call(_ context.Context, call sdk.Call) (sdk.Result, error) {
	read, known := reader(call.Tool)
	if !known {
		return sdk.Result{}, fmt.Errorf("investigation has no tool %q", call.Tool)
	}
	root, err := p.open()
	if err != nil {
		return sdk.Result{}, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	content, err := read(folder{root}, call.Args)
	var code refusal
	if errors.As(err, &code) {
		return sdk.Result{Content: `{"error":"` + string(code) + `"}`, IsError: true}, nil
	}
	return sdk.Result{Content: string(content)}, err
}

// reading answers one call with a JSON object. Its error is a refusal, or means that this code is wrong.
type reading func(f folder, args json.RawMessage) ([]byte, error)

// reader finds the reading behind a tool's name.
func reader(name string) (reading, bool) {
	switch name {
	case "investigation_search":
		return search, true
	case "graph_get_node":
		return about(whole), true
	case "graph_get_neighbors":
		return about(neighbours), true
	case "evidence_get_summary":
		return about(summary), true
	case "evidence_read_excerpt":
		return about(excerpt), true
	case "provenance_trace":
		return about(origins), true
	case "jobs_get":
		return job, true
	}
	return nil, false
}

// refusal is the code of what cannot be answered.
type refusal string

// The codes. A snapshot that is refused is refused whole: nothing of it is answered.
const (
	inputInvalid     refusal = "input_invalid"
	objectUnknown    refusal = "object_unknown"
	jobUnknown       refusal = "job_unknown"
	snapshotMissing  refusal = "snapshot_missing"
	snapshotInvalid  refusal = "snapshot_invalid"
	snapshotTooLarge refusal = "snapshot_too_large"
)

// Error returns the code.
func (r refusal) Error() string { return string(r) }
