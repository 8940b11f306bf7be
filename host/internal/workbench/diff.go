package workbench

import (
	"context"
	"fmt"
	"slices"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// Effect says what a change means to whoever granted the old version. What is not provably equal or narrower widens.
type Effect string

// The three effects.
const (
	Widens  Effect = "widens"
	Narrows Effect = "narrows"
	Neutral Effect = "neutral"
)

// Change is one difference between two versions of a plugin.
type Change struct {
	Effect Effect `json:"effect"`
	What   string `json:"what"`  // capability, host, path, method, limit, schema, match, import, tool, kind, verdict, …
	Where  string `json:"where"` // such as tools.note_add.input_schema.required
	Old    string `json:"old,omitempty"`
	New    string `json:"new,omitempty"`
	Why    string `json:"why"` // in words
}

// Version names one side of a comparison.
type Version struct {
	Path    string   `json:"path"`
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Kind    sdk.Kind `json:"kind"`
	Digest  string   `json:"digest"`
}

// DiffReport is what changed between two versions of a plugin.
type DiffReport struct {
	Old     Version  `json:"old"`
	New     Version  `json:"new"`
	Widens  bool     `json:"widens"`
	Vectors int      `json:"vectors"` // how many were run on both
	Changes []Change `json:"changes"` // widening ones first
}

// Diff compares two versions of a plugin: what they ask for, what they judge, and what they answer to the vectors that
// either of them ships. An error means that they could not be compared.
func Diff(ctx context.Context, oldPath, newPath string) (DiffReport, error) {
	before, err := openVersion(oldPath)
	if err != nil {
		return DiffReport{}, err
	}
	after, err := openVersion(newPath)
	if err != nil {
		return DiffReport{}, err
	}
	report := DiffReport{Old: versionOf(before), New: versionOf(after), Changes: []Change{}}
	d := &diff{}
	d.contents(before.Inspection, after.Inspection)
	if report.Vectors, err = d.verdicts(ctx, before, after); err != nil {
		return DiffReport{}, err
	}
	report.Changes = append(report.Changes, d.changes...)
	slices.SortStableFunc(report.Changes, func(a, b Change) int { return a.Effect.rank() - b.Effect.rank() })
	report.Widens = slices.ContainsFunc(report.Changes, func(c Change) bool { return c.Effect == Widens })
	return report, nil
}

func openVersion(path string) (*Subject, error) {
	path, err := ModulePath(path)
	if err != nil {
		return nil, err
	}
	subject, err := openModule(path)
	if err != nil {
		return nil, err
	}
	subject.Cases, err = vectorCases(subject.Inspection.Manifest)
	return subject, err
}

func versionOf(s *Subject) Version {
	i := s.Inspection
	return Version{Path: s.Path, Name: i.Name, Version: i.Version, Kind: i.Kind, Digest: i.Digest}
}

func (e Effect) rank() int { return slices.Index([]Effect{Widens, Narrows, Neutral}, e) }

// diff collects changes.
type diff struct{ changes []Change }

func (d *diff) add(c Change) { d.changes = append(d.changes, c) }

// contents compares what the two modules say about themselves.
func (d *diff) contents(before, after wasm.Inspection) {
	d.identity(before, after)
	d.imports(before, after)
	d.capabilities(before.Requested, after.Requested)
	d.limits(before, after)
	d.match(before.Manifest.Match, after.Manifest.Match, after.Kind)
	d.tools(before.Manifest.Tools, after.Manifest.Tools)
}

func (d *diff) identity(before, after wasm.Inspection) {
	if before.Kind != after.Kind {
		d.add(Change{Widens, "kind", "kind", string(before.Kind), string(after.Kind), "it is asked other questions, and may be granted other things"})
	}
	if before.Name != after.Name {
		d.add(Change{Widens, "name", "name", before.Name, after.Name, "it is another plugin to pins, stores and rules that name it"})
	}
	for _, c := range []Change{
		{Neutral, "version", "version", before.Version, after.Version, "a label"},
		{Neutral, "description", "description", before.Manifest.Description, after.Manifest.Description, "words for people"},
		{Neutral, "code", "digest", before.Digest, after.Digest, "the file is another one: pin it anew"},
	} {
		if c.Old != c.New {
			d.add(c)
		}
	}
}

// imports compares what the modules can call at all.
func (d *diff) imports(before, after wasm.Inspection) {
	for _, name := range added(before.Imports, after.Imports) {
		c := Change{Widens, "import", name, "", name, "it can call something new"}
		switch {
		case slices.Contains(after.Unsupported, name):
			c.Why = "no host serves it, and the module will be refused"
		case wasm.IsBase(name):
			c.Effect, c.Why = Neutral, "a function that every module may link; it grants nothing"
		}
		d.add(c)
	}
	for _, name := range added(after.Imports, before.Imports) {
		d.add(Change{Narrows, "import", name, name, "", "it no longer calls this"})
	}
	for _, id := range added(before.Capabilities, after.Capabilities) {
		d.add(Change{Widens, "capability", id, "", id, "it needs a capability that it did not need"})
	}
	for _, id := range added(after.Capabilities, before.Capabilities) {
		d.add(Change{Narrows, "capability", id, id, "", "it no longer needs this capability"})
	}
}

// added lists what stands in after and not in before.
func added(before, after []string) []string {
	var some []string
	for _, name := range after {
		if !slices.Contains(before, name) {
			some = append(some, name)
		}
	}
	return some
}

// bound compares two amounts of which more is wider.
func bound(what, where string, before, after int64, show func(int64) string) (Change, bool) {
	c := Change{Widens, what, where, show(before), show(after), "it may use more"}
	if after < before {
		c.Effect, c.Why = Narrows, "it may use less"
	}
	return c, before != after
}

func number(n int64) string { return fmt.Sprint(n) }
