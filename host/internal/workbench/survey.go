package workbench

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// Survey is everything that a reviewer reads about a module. Nothing was compiled or run for it.
type Survey struct {
	wasm.Inspection
	Path       string      `json:"path"`
	Signature  string      `json:"signature"`      // unsigned, unverified, verified, or why it does not count
	Mode       string      `json:"mode"`           // snapshot or fresh: how calls are kept apart
	Dialect    string      `json:"dialect"`        // how host and guest talk
	Note       string      `json:"note,omitempty"` // why it does not run in that mode
	Metered    int         `json:"metered_bytes"`  // of the module as it is compiled: with the code that counts and ends it
	Sizes      wasm.Weight `json:"sizes"`
	Effective  sdk.Limits  `json:"effective_limits"` // when the operator says nothing
	Ceiling    sdk.Limits  `json:"ceiling"`          // nobody gets more
	Requests   []string    `json:"requests"`         // the requested capabilities in words, one line each
	LimitLines []Limit     `json:"limit_table"`
	Vectors    []string    `json:"vectors"` // names of the self-test vectors in the manifest
	Entry      string      `json:"entry"`   // what an operator writes to load it with everything that it asks for
}

// Limit is one limit in words: what holds when the operator says nothing, what the manifest asks for, and what nobody
// gets more of. Requested is empty when the manifest says nothing.
type Limit struct {
	Name      string `json:"name"`
	Effective string `json:"effective"`
	Requested string `json:"requested,omitempty"`
	Ceiling   string `json:"ceiling"`
}

// Look reads a module for a reviewer. Path is a plugin's folder or its file; pub is the file of the public key that a
// signature is checked with, or empty.
func Look(path, pub string) (Survey, error) {
	path, err := ModulePath(path)
	if err != nil {
		return Survey{}, err
	}
	subject, err := openModule(path)
	if err != nil {
		return Survey{}, err
	}
	s := Survey{
		Inspection: subject.Inspection, Path: path, Ceiling: wasm.Ceiling(), Vectors: []string{},
	}
	if s.Signer, s.Signature, err = readSigner(path, pub, s.Digest); err != nil {
		return Survey{}, err
	}
	if s.Sizes, err = wasm.Weigh(subject.Module); err != nil {
		return Survey{}, err
	}
	plan, err := wasm.PlanFor(subject.Module)
	if err != nil {
		return Survey{}, err
	}
	s.Mode, s.Dialect, s.Note, s.Effective, s.Metered = string(plan.Mode), plan.Dialect, plan.Note, plan.Limits, plan.Metered
	for _, v := range s.Manifest.Vectors {
		s.Vectors = append(s.Vectors, v.Name)
	}
	s.LimitLines = limitTable(s)
	s.Requests = requestsOf(s.Requested)
	s.Entry = entryFor(s)
	return s, nil
}

func limitTable(s Survey) []Limit {
	holds, asks, most := limitsOf(s.Effective), limitsOf(s.Limits), limitsOf(s.Ceiling)
	table := []Limit{}
	for _, name := range slices.Sorted(maps.Keys(most)) {
		if s.Kind.Pure() && strings.HasPrefix(name, "http_") {
			continue // it never gets there
		}
		line := Limit{Name: name, Effective: showLimit(name, holds[name]), Ceiling: showLimit(name, most[name])}
		if asks[name] != 0 {
			line.Requested = showLimit(name, asks[name])
		}
		table = append(table, line)
	}
	return table
}

// requestsOf says in words what a manifest asks for.
func requestsOf(c sdk.Capabilities) []string {
	lines := []string{}
	for _, file := range c.Files {
		lines = append(lines, fmt.Sprintf("files at %s, %s", file.At, file.Mode))
	}
	for _, access := range c.HTTP {
		access = access.WithDefaults()
		lines = append(lines, fmt.Sprintf("http to %s://%s, %s", access.Scheme,
			net.JoinHostPort(access.Host, strconv.Itoa(access.Port)), strings.Join(access.Methods, " ")))
	}
	for _, access := range c.Secrets {
		lines = append(lines, fmt.Sprintf("secret %s, only for %s", access.Name, strings.Join(access.Hosts, ", ")))
	}
	if c.KV != nil {
		lines = append(lines, fmt.Sprintf("kv, %d bytes for each tenant", c.KV.Bytes))
	}
	if c.Progress != nil {
		lines = append(lines, fmt.Sprintf("progress, %d bytes of text a call", c.Progress.Bytes))
	}
	return lines
}

// entryFor writes the entry of plugins.load that grants what the manifest requests: the most that an operator may be
// asked for.
func entryFor(s Survey) string {
	entry := fmt.Sprintf("- {path: %s, sha256: %s", strconv.Quote(s.Path), strconv.Quote(strings.TrimPrefix(s.Digest, "sha256:")))
	if grants := flow(manifestGrants(s.Requested)); grants != "{}" {
		entry += ", grants: " + grants
	}
	return entry + "}"
}

// flow writes a value as YAML of one line.
func flow(value any) string {
	text, err := decodeAny(asJSON(value))
	if err != nil {
		return "{}"
	}
	return flowOf(text)
}

func flowOf(value any) string {
	switch v := value.(type) {
	case map[string]any:
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, name+": "+flowOf(v[name]))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, flowOf(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case json.Number:
		return v.String()
	}
	return string(asJSON(value))
}
