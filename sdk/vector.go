package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
)

// Bounds of the vectors of one manifest.
const (
	MaxVectors     = 64
	MaxVectorBytes = 64 << 10 // of input and want, each
)

// Vector is a question that a module brings along, and what its answer must hold. A host asks every vector after it
// started the module and before it relies on it; an answer that differs refuses the module.
//
// Of the answer, each field that stands in Want must be equal; a field that the answer leaves out counts as empty.
// Policy vectors name at least the action.
type Vector struct {
	Name  string          `json:"name"`  // unique in the manifest
	Op    string          `json:"op"`    // call, evaluate, inject, filter or review, as the kind of the plugin has it
	Input json.RawMessage `json:"input"` // a Call, Question, InjectRequest, FilterRequest or ReviewRequest
	Want  json.RawMessage `json:"want"`  // fields of the answer
}

const vectorName = `^[a-z0-9][a-z0-9_. -]{0,63}$` // compiled where it is used, as pluginName is

// opsOf names the operations of each kind of plugin.
func opsOf(kind Kind) []string {
	switch kind {
	case KindTool:
		return []string{"call"}
	case KindPolicy:
		return []string{"evaluate"}
	case KindScope:
		return []string{"inject", "filter"}
	case KindGuard:
		return []string{"review"}
	}
	return nil
}

func (m Manifest) validateVectors() error {
	if len(m.Vectors) > MaxVectors {
		return fmt.Errorf("vectors: %d are too many, the limit is %d", len(m.Vectors), MaxVectors)
	}
	if len(m.Vectors) > 0 && !reflect.ValueOf(m.Capabilities).IsZero() {
		return errors.New("vectors: a plugin that requests capabilities has none: trying it must touch nothing")
	}
	var problems []error
	seen := map[string]bool{}
	for i, v := range m.Vectors {
		if err := v.validate(m.Kind); err != nil {
			problems = append(problems, fmt.Errorf("vectors[%d].%w", i, err))
		}
		if seen[v.Name] {
			problems = append(problems, fmt.Errorf("vectors[%d].name: %q stands there twice", i, v.Name))
		}
		seen[v.Name] = true
	}
	return errors.Join(problems...)
}

func (v Vector) validate(kind Kind) error {
	var want map[string]json.RawMessage
	switch {
	case !regexp.MustCompile(vectorName).MatchString(v.Name):
		return fmt.Errorf("name: %q must match %s", v.Name, vectorName)
	case !slices.Contains(opsOf(kind), v.Op):
		return fmt.Errorf("op: %q is not one of a %s: %q", v.Op, kind, opsOf(kind))
	case len(v.Input) > MaxVectorBytes || len(v.Want) > MaxVectorBytes:
		return fmt.Errorf("input: it or want has more than %d bytes", MaxVectorBytes)
	case json.Unmarshal(v.Want, &want) != nil || len(want) == 0:
		return errors.New("want: must be a JSON object that is not empty")
	}
	if err := v.Read(v.question()); err != nil {
		return err
	}
	if kind == KindPolicy {
		var action Action
		if json.Unmarshal(want["action"], &action) != nil || !action.Valid() {
			return errors.New("want.action: a policy's vector names allow, caution, require_approval or deny")
		}
	}
	return nil
}

// question returns a place for the vector's input.
func (v Vector) question() any {
	switch v.Op {
	case "call":
		return &Call{}
	case "inject":
		return &InjectRequest{}
	case "filter":
		return &FilterRequest{}
	case "review":
		return &ReviewRequest{}
	}
	return &Question{}
}

// Read decodes the input strictly into what the operation is asked.
func (v Vector) Read(into any) error {
	decoder := json.NewDecoder(bytes.NewReader(v.Input))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	return nil
}

// Holds compares an answer with what is wanted. The error names the first field that differs, in order of names.
func (v Vector) Holds(answer json.RawMessage) error {
	var want, got map[string]any
	if err := exactly(v.Want, &want); err != nil {
		return fmt.Errorf("vector %q: want: %w", v.Name, err)
	}
	if err := exactly(answer, &got); err != nil {
		return fmt.Errorf("vector %q: the answer is no JSON object", v.Name)
	}
	for _, field := range slices.Sorted(maps.Keys(want)) {
		if !alike(want[field], got[field]) {
			return fmt.Errorf("vector %q: %s is %s, the manifest wants %s", v.Name, field, brief(got[field]), brief(want[field]))
		}
	}
	return nil
}

// exactly decodes JSON and keeps numbers as they are written.
func exactly(raw json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// alike reports whether two values are equal, where what is not there is as empty as what is.
func alike(want, got any) bool { return isEmpty(want) && isEmpty(got) || reflect.DeepEqual(want, got) }

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// brief shows a value within one line.
func brief(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("%.80s", Show(string(text)))
}
