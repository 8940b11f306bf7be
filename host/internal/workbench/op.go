package workbench

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// opNames lists the operations by the words that cases use.
func opNames() map[string]sdk.Op {
	return map[string]sdk.Op{
		"call": sdk.OpCall, "evaluate": sdk.OpEvaluate, "inject": sdk.OpInject, "filter": sdk.OpFilter, "review": sdk.OpReview,
	}
}

func opName(op sdk.Op) string {
	for name, known := range opNames() {
		if known == op {
			return name
		}
	}
	return fmt.Sprintf("operation %d", op)
}

// usualOp is the operation of a kind when a case names none.
func usualOp(kind sdk.Kind) sdk.Op {
	switch kind {
	case sdk.KindTool:
		return sdk.OpCall
	case sdk.KindPolicy:
		return sdk.OpEvaluate
	case sdk.KindScope:
		return sdk.OpInject
	}
	return sdk.OpReview
}

func (c *Case) takeOp(name string) error {
	op, known := opNames()[name]
	if !known {
		return fmt.Errorf("%q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(opNames())), ", "))
	}
	c.Op = op
	return nil
}

// fill gives an input object the fields that a host always sends and that its author left out. The values are fixed, so
// that a case has one answer.
func (c *Case) fill() error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(c.Input, &fields); err != nil || fields == nil {
		return nil // an author may want to see what the plugin makes of it
	}
	for name, value := range usualFields(c.Op) {
		if _, given := fields[name]; !given {
			fields[name] = json.RawMessage(value)
		}
	}
	filled, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("-- input --: %w", err)
	}
	c.Input = filled
	return nil
}

func usualFields(op sdk.Op) map[string]string {
	const identity = `{"user_key":"pska:author","tenant_key":"pska","user_id":"author"}`
	switch op {
	case sdk.OpCall:
		return map[string]string{"args": `{}`, "identity": identity, "run_id": `"run-case"`, "call_id": `"call-case"`}
	case sdk.OpEvaluate:
		return map[string]string{
			"args": `{}`, "identity": identity, "now": `"2026-01-01T00:00:00Z"`, "static": `{"action":"allow"}`,
		}
	case sdk.OpInject:
		return map[string]string{"args": `{}`}
	case sdk.OpReview:
		return map[string]string{"draft": `null`, "evidence": `null`, "question": `""`}
	}
	return nil
}
