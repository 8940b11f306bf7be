package localagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/fastreact/fastreact/host/internal/run"
)

// What an action may be.
const (
	actionContract = "labfy.agent_model_action.v1"
	maxAction      = 32 << 10 // bytes
	maxActionDepth = 12       // levels; the action itself is the first
	maxFinal       = 8192     // characters
)

// action is what a model may say: it names a tool, or it ends its turn. There is no third kind.
type action struct {
	tool      string          // of the catalogue; empty for a last word
	arguments json.RawMessage // one object, as written
	text      string          // the last word; empty for a call
}

// errAction reports that an answer is no action. It never holds a part of the answer.
var errAction = errors.New("the answer is no action")

// parseAction reads exactly one action whose tool is known. Nothing but white space may stand around it, no key may be
// missing, unknown or written twice, however deep.
func parseAction(answer string, known func(tool string) bool) (action, error) {
	raw := json.RawMessage(answer)
	if len(raw) > maxAction {
		return action{}, fmt.Errorf("%w: more than %d bytes", errAction, maxAction)
	}
	fields, err := run.ReadObject(raw, maxActionDepth)
	if err != nil {
		return action{}, fmt.Errorf("%w: %w", errAction, err)
	}
	if run.HasNUL(raw) {
		return action{}, fmt.Errorf("%w: NUL in a text", errAction)
	}
	if text, is := asText(fields["contract"]); !is || text != actionContract {
		return action{}, fmt.Errorf("%w: another contract", errAction)
	}
	switch kind, _ := asText(fields["kind"]); kind {
	case "tool_call":
		return toolCall(fields, known)
	case "final":
		return lastWord(fields)
	}
	return action{}, fmt.Errorf("%w: another kind", errAction)
}

func toolCall(fields map[string]json.RawMessage, known func(tool string) bool) (action, error) {
	tool, is := asText(fields["tool_id"])
	arguments := fields["arguments"]
	if len(fields) != 4 || !is || !bytes.HasPrefix(arguments, []byte("{")) {
		return action{}, fmt.Errorf("%w: other keys than a call has", errAction)
	}
	if !known(tool) {
		return action{}, fmt.Errorf("%w: no tool of the catalogue", errAction)
	}
	return action{tool: tool, arguments: arguments}, nil
}

func lastWord(fields map[string]json.RawMessage) (action, error) {
	text, is := asText(fields["text"])
	if len(fields) != 3 || !is {
		return action{}, fmt.Errorf("%w: other keys than a last word has", errAction)
	}
	if n := utf8.RuneCountInString(text); n < 1 || n > maxFinal {
		return action{}, fmt.Errorf("%w: a last word of %d characters", errAction, n)
	}
	return action{text: text}, nil
}

// asText reads a JSON string.
func asText(raw json.RawMessage) (text string, is bool) {
	if !bytes.HasPrefix(raw, []byte(`"`)) || json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	return text, true
}

// encode writes the action as the model is shown it later.
func (a action) encode() string {
	if a.tool == "" {
		return string(run.EncodeOwn(struct {
			Contract string `json:"contract"`
			Kind     string `json:"kind"`
			Text     string `json:"text"`
		}{actionContract, "final", a.text}))
	}
	return string(run.EncodeOwn(struct {
		Contract  string          `json:"contract"`
		Kind      string          `json:"kind"`
		ToolID    string          `json:"tool_id"`
		Arguments json.RawMessage `json:"arguments"`
	}{actionContract, "tool_call", a.tool, a.arguments}))
}
