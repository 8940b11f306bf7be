package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/run"
)

// maxRawPreview bounds what is shown of arguments that nobody could read, in characters.
const maxRawPreview = 600

// verdict is the gate's word on a call, asked once in a drive: the event shows the same arguments that run.
// spent is how many earlier calls of the tool were let through.
func (d *drive) verdict(ctx context.Context, wish run.ToolCall, spent int) gate.Verdict {
	if known, ok := d.verdicts[wish.ID]; ok {
		return known
	}
	verdict := d.cfg.Gate.Check(ctx, d.call(wish, spent))
	d.verdicts[wish.ID] = verdict
	return verdict
}

func (d *drive) call(wish run.ToolCall, spent int) run.Call {
	return run.Call{
		Fence:      d.run.Fence(),
		SessionID:  d.run.SessionID,
		Identity:   d.run.Request.Identity,
		ToolPolicy: d.policy,
		ID:         wish.ID,
		Tool:       wish.Name,
		Spent:      spent,
		Timeout:    d.profile.ToolTimeout,
		Args:       written(wish.Arguments),
	}
}

// written are the arguments for the gate, which judges whether they can be read. Only their absence is repaired: many
// models send nothing for a tool without parameters.
func written(arguments string) json.RawMessage {
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage(`{}`)
	}
	if !utf8.ValidString(arguments) {
		arguments = strings.ToValidUTF8(arguments, "\uFFFD")
	}
	return json.RawMessage(arguments)
}

// isObject reports whether raw is one JSON object that an event can hold.
func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) && run.Shallow(raw) && json.Valid(raw)
}

// callEvent shows a call with the arguments that would run. Text that is no JSON object never stands there.
func (d *drive) callEvent(ctx context.Context, wish run.ToolCall, spent map[string]int) run.Event {
	verdict := d.verdict(ctx, wish, spent[wish.Name])
	if !verdict.Denied() {
		spent[wish.Name]++
	}
	metadata := d.policyFields(verdict.Decision())
	metadata["action"] = "calling"
	args, raw := verdict.Args(), written(wish.Arguments)
	switch {
	case isObject(args):
	case isObject(raw):
		args = raw
	default:
		args = json.RawMessage(`{}`)
		metadata["raw_arguments_preview"] = firstLetters(string(raw), maxRawPreview)
	}
	return run.Event{
		Kind: run.ToolCalled, Content: "Calling " + wish.Name, ToolName: wish.Name, ToolCallID: wish.ID,
		ToolArgs: args, Metadata: object(metadata),
	}
}
