package workbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// Outcome is what came of one case.
type Outcome struct {
	Name        string          `json:"name"`
	Comment     string          `json:"comment,omitempty"`
	Op          string          `json:"op"`
	OK          bool            `json:"ok"`
	Gas         int64           `json:"gas"`
	Differences []string        `json:"differences,omitempty"` // one line each
	Answer      json.RawMessage `json:"answer,omitempty"`
	ErrorCode   string          `json:"error_code,omitempty"`
	Error       string          `json:"error,omitempty"`
	Output      string          `json:"output,omitempty"` // what the plugin logged and wrote to its standard streams; failures only

	unwanted bool // the answer or error itself is not the one that was wanted
}

// happening is everything that a call did.
type happening struct {
	reply
	progress []sdk.Progress
	unmet    []string          // what its scripted world saw amiss
	kv       map[string]string // afterwards
}

// try runs one case in a scratch workspace and compares what came of it.
func (s *stand) try(ctx context.Context, c *Case) (Outcome, error) {
	var outcome Outcome
	err := inWorkspace(c.Files, func(workspace string) {
		happened := s.perform(ctx, c, workspace)
		outcome = c.outcome(happened, c.Want.judge(happened, workspace))
	})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return outcome, err
}

// run runs one case in a scratch workspace and compares nothing.
func (s *stand) run(ctx context.Context, c *Case) (r reply, err error) {
	err = inWorkspace(c.Files, func(workspace string) { r = s.perform(ctx, c, workspace).reply })
	return r, err
}

// inWorkspace makes a scratch workspace for as long as use takes.
func inWorkspace(files map[string][]byte, use func(workspace string)) error {
	workspace, err := os.MkdirTemp("", "fastreact-case-")
	if err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	defer os.RemoveAll(workspace)
	if err := lay(workspace, files); err != nil {
		return err
	}
	use(workspace)
	return nil
}

func (c *Case) outcome(h happening, differences []string) Outcome {
	o := Outcome{
		Name: c.Name, Comment: c.Comment, Op: opName(c.Op), Gas: h.gas, OK: len(differences) == 0,
		Differences: differences, Answer: h.answer, unwanted: c.Want.empty() || len(c.Want.judgeAnswer(h)) > 0,
	}
	if h.err != nil {
		o.ErrorCode, o.Error, o.Answer = codeOf(h.err), h.err.Error(), nil
	}
	if !o.OK {
		o.Output = string(h.output)
	}
	return o
}

// perform makes the call. A module that cannot be loaded as the case says has failed as its call would.
func (s *stand) perform(ctx context.Context, c *Case, workspace string) happening {
	plugin, err := s.plugin(ctx, c.Grants, c.Limits)
	if err != nil {
		return happening{reply: reply{err: err}}
	}
	var heard reports
	s.stage.set(c)
	said := ask(sdk.WithProgress(ctx, heard.take), plugin, c.Op, callOf(c, workspace), c.Input)
	h := happening{reply: said, progress: heard.all()}
	h.unmet, h.kv = s.stage.struck()
	return h
}

// callOf is what the host knows about a case's call.
func callOf(c *Case, workspace string) wasm.CallContext {
	var given sdk.Call
	_ = json.Unmarshal(c.Input, &given) // what is no call has no identity
	return wasm.CallContext{
		Workspace: workspace, Tenant: given.Identity.TenantKey, RunID: given.RunID, CallID: given.CallID,
	}
}

// reports collects what a call reports.
type reports struct {
	mu   sync.Mutex
	list []sdk.Progress
}

func (r *reports) take(p sdk.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, p)
}

func (r *reports) all() []sdk.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// lay writes the files of a case below dir.
func lay(dir string, files map[string][]byte) error {
	for path, data := range files {
		target := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return fmt.Errorf("lay out workspace: %w", err)
		}
		if err := os.WriteFile(target, data, 0o600); err != nil {
			return fmt.Errorf("lay out workspace: %w", err)
		}
	}
	return nil
}

// judge lists what differs from what was wanted, one line each.
func (w Want) judge(h happening, workspace string) []string {
	if w.empty() {
		return []string{"it wants nothing: add -- want -- or -- want-error --, or let --update write what came"}
	}
	lines := append(w.judgeAnswer(h), h.unmet...)
	lines = append(lines, w.judgeFiles(workspace)...)
	if w.KV != nil {
		lines = append(lines, prefixed("kv ", differences(asJSON(w.KV), asJSON(h.kv), true))...)
	}
	return append(lines, w.judgeProgress(h.progress)...)
}

func (w Want) judgeAnswer(h happening) []string {
	switch code := codeOf(h.err); {
	case w.Error != "" && h.err == nil:
		return []string{fmt.Sprintf("want the error %s, got the answer %s", w.Error, shortened(string(h.answer)))}
	case w.Error != "" && code != w.Error:
		return []string{fmt.Sprintf("want the error %s, got %s: %v", w.Error, code, h.err)}
	case h.err != nil && w.Error == "":
		return []string{fmt.Sprintf("want an answer, got the error %s: %v", code, h.err)}
	case w.Vector != nil:
		return problem(w.Vector.Holds(h.answer))
	case w.Exact != nil:
		return differences(w.Exact, h.answer, true)
	case w.Answer != nil:
		return differences(w.Answer, h.answer, false)
	}
	return nil
}

func problem(err error) []string {
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}

func (w Want) judgeFiles(workspace string) []string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(w.Files)) {
		got, err := os.ReadFile(filepath.Join(workspace, filepath.FromSlash(path)))
		if err != nil {
			lines = append(lines, fmt.Sprintf("file %s: want %d bytes, got %s", path, len(w.Files[path]), plainCause(err)))
			continue
		}
		lines = append(lines, textDifferences("file "+path, w.Files[path], got)...)
	}
	for _, path := range w.NoFiles {
		if _, err := os.Lstat(filepath.Join(workspace, filepath.FromSlash(path))); !errors.Is(err, os.ErrNotExist) {
			lines = append(lines, fmt.Sprintf("file %s: want none, it is there", path))
		}
	}
	return lines
}

func (w Want) judgeProgress(got []sdk.Progress) []string {
	if w.Progress == nil {
		return nil
	}
	if len(got) != len(w.Progress) {
		return []string{fmt.Sprintf("want %d reports of progress, got %s", len(w.Progress), asJSON(got))}
	}
	var lines []string
	for i, want := range w.Progress {
		lines = append(lines, prefixed(fmt.Sprintf("progress[%d] ", i), differences(want, asJSON(got[i]), false))...)
	}
	return lines
}

func prefixed(prefix string, lines []string) []string {
	for i := range lines {
		lines[i] = prefix + lines[i]
	}
	return lines
}

func asJSON(value any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(text.Bytes())
}

// codeOf returns the stable code of a call that failed.
func codeOf(err error) string {
	var failure *wasm.Failure
	if errors.As(err, &failure) {
		return string(failure.Code)
	}
	return "plugin_unavailable"
}

func plainCause(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
