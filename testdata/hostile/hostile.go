// Package hostile carries modules that cross every limit of the plugin host, for the host's own tests and for
// `fastreact plugin test --hostile`. A host that holds its limits ends each as its source says, and serves the next call.
package hostile

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

//go:embed *.wat *.wasm
var files embed.FS

// Probe is one module and what its source says about it.
type Probe struct {
	Name   string     // of the file, without extension
	Says   string     // what it does, one sentence
	Limit  string     // the limit it crosses, as the configuration names it; empty for none
	Value  string     // what a limit of the whole host is set to for it; empty for others
	Limits sdk.Limits // what the plugin's limits are set to for it
	Phase  string     // where it ends: load or call
	Code   string     // the code it ends with; empty means that it answers
	Module []byte
}

var (
	limitLine  = regexp.MustCompile(`(?m)^;; limit: (\w+)(?: (.*))?$`)
	expectLine = regexp.MustCompile(`(?m)^;; expect: (load|call) (\w+)$`)
)

// Probes returns all of them, by name. Callers must not change the modules.
func Probes() ([]Probe, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("list hostile modules: %w", err)
	}
	var probes []Probe
	for _, entry := range entries {
		name, source := strings.CutSuffix(entry.Name(), ".wat")
		if !source {
			continue
		}
		probe, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("hostile module %s: %w", name, err)
		}
		probes = append(probes, probe)
	}
	sort.Slice(probes, func(i, j int) bool { return probes[i].Name < probes[j].Name })
	return probes, nil
}

func read(name string) (Probe, error) {
	source, err := files.ReadFile(path.Base(name) + ".wat")
	if err != nil {
		return Probe{}, err
	}
	module, err := files.ReadFile(path.Base(name) + ".wasm")
	if err != nil {
		return Probe{}, err
	}
	probe := Probe{Name: name, Module: module}
	says, _, _ := strings.Cut(string(source), "\n")
	probe.Says = strings.TrimPrefix(says, ";; ")
	expected := expectLine.FindSubmatch(source)
	if expected == nil {
		return Probe{}, fmt.Errorf("it states no expectation")
	}
	probe.Phase = string(expected[1])
	if code := string(expected[2]); code != "ok" {
		probe.Code = code
	}
	limit := limitLine.FindSubmatch(source)
	if limit == nil {
		return probe, nil
	}
	probe.Limit, probe.Value = string(limit[1]), string(limit[2])
	if strings.HasPrefix(probe.Value, "{") {
		if err := json.Unmarshal(limit[2], &probe.Limits); err != nil {
			return Probe{}, err
		}
		probe.Value = ""
	}
	return probe, nil
}
