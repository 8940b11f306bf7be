package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
)

// Bounds of a manifest. They hold before anything else reads it.
const (
	maxManifestBytes = 1 << 20
	maxManifestDepth = 64
)

// Names are short and the same everywhere. The patterns are compiled where they are used: a guest, whose Go runtime
// starts with every package it links, reads no manifest.
const (
	pluginName = `^[a-z0-9][a-z0-9-]{0,63}$`
	toolName   = `^[a-zA-Z0-9_-]{1,64}$`
)

// DecodeManifest reads a manifest strictly: one JSON object, no unknown or repeated keys, nothing that contradicts
// the plugin's kind. Every problem is reported in one error.
func DecodeManifest(raw []byte) (Manifest, error) {
	if len(raw) > maxManifestBytes {
		return Manifest{}, fmt.Errorf("decode manifest: it has %d bytes, the limit is %d", len(raw), maxManifestBytes)
	}
	err := refuseRepeatedKeys(raw)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Manifest{}, errors.New("decode manifest: the JSON object ends too early")
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("decode manifest: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var manifest Manifest
	if err := decoder.Decode(&manifest); err != nil {
		return Manifest{}, fmt.Errorf("decode manifest: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Manifest{}, errors.New("decode manifest: bytes after the JSON object")
	}
	if err := manifest.Validate(); err != nil {
		return Manifest{}, fmt.Errorf("manifest %q: %w", manifest.Name, err)
	}
	return manifest, nil
}

// Validate reports every contradiction in m, each with its path. Globs are checked for their syntax only.
func (m Manifest) Validate() error {
	problems := []error{m.validateHead(), m.validateTools(), m.validateMatch(), m.validateFiles(), m.validateWorld(), m.validateProgress(), m.validateVectors(), m.Limits.validate()}
	return errors.Join(problems...)
}

func (m Manifest) validateHead() error {
	var problems []error
	if m.ABI != ABIVersion {
		problems = append(problems, fmt.Errorf("abi: %d is not supported, use %d", m.ABI, ABIVersion))
	}
	if !regexp.MustCompile(pluginName).MatchString(m.Name) {
		problems = append(problems, fmt.Errorf("name: %q must match %s", m.Name, pluginName))
	}
	if m.Version == "" || len(m.Version) > 64 {
		problems = append(problems, errors.New("version: 1 to 64 bytes are required"))
	}
	if !m.Kind.Valid() {
		problems = append(problems, fmt.Errorf("kind: %q is not tool, policy, scope or guard", m.Kind))
	}
	return errors.Join(problems...)
}

func (m Manifest) validateTools() error {
	if m.Kind == KindTool && len(m.Tools) == 0 {
		return errors.New("tools: a plugin of kind tool has at least one")
	}
	if m.Kind != KindTool && len(m.Tools) > 0 {
		return fmt.Errorf("tools: a plugin of kind %s has none", m.Kind)
	}
	var problems []error
	seen := map[string]bool{}
	for i, tool := range m.Tools {
		if err := tool.validate(); err != nil {
			problems = append(problems, fmt.Errorf("tools[%d]: %w", i, err))
		}
		if seen[tool.Name] {
			problems = append(problems, fmt.Errorf("tools[%d].name: %q stands there twice", i, tool.Name))
		}
		seen[tool.Name] = true
	}
	return errors.Join(problems...)
}

func (t ToolSpec) validate() error {
	if !regexp.MustCompile(toolName).MatchString(t.Name) {
		return fmt.Errorf("name: %q must match %s", t.Name, toolName)
	}
	var schema struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
		return fmt.Errorf("input_schema of %s: must be a JSON object: %w", t.Name, err)
	}
	if schema.Type != "object" {
		return fmt.Errorf(`input_schema of %s: "type" must be "object"`, t.Name)
	}
	if t.Extism != nil && t.Extism.Function == "" {
		return fmt.Errorf("extism.function of %s: name the export that answers it, or leave extism out", t.Name)
	}
	return nil
}

func (m Manifest) validateMatch() error {
	if m.Match == nil {
		return nil
	}
	if m.Kind != KindPolicy {
		return fmt.Errorf("match: only a policy chooses its calls, not a %s", m.Kind)
	}
	if len(m.Match.Tools) == 0 {
		return errors.New("match.tools: must not be empty; leave match out to hear every call")
	}
	var problems []error
	seen := map[string]bool{}
	for i, glob := range m.Match.Tools {
		if _, err := path.Match(glob, ""); err != nil || glob == "" {
			problems = append(problems, fmt.Errorf("match.tools[%d]: %q is not a glob", i, glob))
		}
		if seen[glob] {
			problems = append(problems, fmt.Errorf("match.tools[%d]: %q stands there twice", i, glob))
		}
		seen[glob] = true
	}
	return errors.Join(problems...)
}

func (m Manifest) validateFiles() error {
	if m.Kind.Pure() && len(m.Capabilities.Files) > 0 {
		return fmt.Errorf("capabilities.files: a %s is pure and sees no files", m.Kind)
	}
	var problems []error
	seen := map[string]bool{}
	for i, access := range m.Capabilities.Files {
		if access.Path != "" {
			problems = append(problems, fmt.Errorf("capabilities.files[%d].path: stands in grants only", i))
		}
		if err := access.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("capabilities.files[%d].%w", i, err))
		}
		if seen[access.At] {
			problems = append(problems, fmt.Errorf("capabilities.files[%d].at: %q stands there twice", i, access.At))
		}
		seen[access.At] = true
	}
	return errors.Join(problems...)
}

// validateWorld checks what a module requests of the world beyond its folder.
func (m Manifest) validateWorld() error {
	asked := m.Capabilities
	if m.Kind.Pure() && (len(asked.HTTP) > 0 || len(asked.Secrets) > 0 || asked.KV != nil) {
		return fmt.Errorf("capabilities: a %s is pure and may request neither http nor secrets nor kv", m.Kind)
	}
	var problems []error
	for i, access := range asked.HTTP {
		if err := access.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("capabilities.http[%d].%w", i, err))
		}
		if len(access.Addresses) > 0 {
			problems = append(problems, fmt.Errorf("capabilities.http[%d].addresses: stand in grants only", i))
		}
	}
	for i, access := range asked.Secrets {
		if err := access.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("capabilities.secrets[%d].%w", i, err))
		}
	}
	if asked.KV != nil {
		if err := asked.KV.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("capabilities.kv.%w", err))
		}
	}
	return errors.Join(problems...)
}

func (m Manifest) validateProgress() error {
	switch {
	case m.Capabilities.Progress == nil:
		return nil
	case m.Kind.Pure():
		return fmt.Errorf("capabilities.progress: a %s is pure and reports nothing", m.Kind)
	}
	if err := m.Capabilities.Progress.Validate(); err != nil {
		return fmt.Errorf("capabilities.progress.%w", err)
	}
	return nil
}

// Validate reports a guest path that is not absolute and clean, or a mode that is neither ro nor rw.
func (a FileAccess) Validate() error {
	if !path.IsAbs(a.At) || path.Clean(a.At) != a.At {
		return fmt.Errorf("at: %q must be an absolute, clean path", a.At)
	}
	if a.Mode != ReadOnly && a.Mode != ReadWrite {
		return fmt.Errorf("mode: %q is neither ro nor rw", a.Mode)
	}
	return nil
}

func (l Limits) validate() error {
	if l.Wall < 0 || l.OutputBytes < 0 || l.LogBytes < 0 {
		return errors.New("limits: must not be negative")
	}
	return nil
}

// refuseRepeatedKeys reports a key that an object holds twice: a reader of the text and a decoder could see
// different manifests.
func refuseRepeatedKeys(raw []byte) error {
	return walkValue(json.NewDecoder(bytes.NewReader(raw)), maxManifestDepth)
}

func walkValue(decoder *json.Decoder, depth int) error {
	if depth == 0 {
		return fmt.Errorf("it is nested deeper than %d", maxManifestDepth)
	}
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	seen := map[string]bool{}
	for decoder.More() {
		if delim == '{' {
			if err := walkKey(decoder, seen); err != nil {
				return err
			}
		}
		if err := walkValue(decoder, depth-1); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

func walkKey(decoder *json.Decoder, seen map[string]bool) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	key, isText := token.(string)
	if !isText || seen[key] {
		return fmt.Errorf("key %q stands there twice", token)
	}
	seen[key] = true
	return nil
}
