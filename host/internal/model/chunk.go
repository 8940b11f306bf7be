package model

import (
	"bytes"
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
)

// chunk is one piece of a streamed reply. It is decoded here and not by the library, whose structs refuse arguments
// sent as an object.
type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index  int    `json:"index"`
	Delta  delta  `json:"delta"`
	Finish string `json:"finish_reason"` // null stays empty
}

type delta struct {
	Content          string      `json:"content"`
	ReasoningContent string      `json:"reasoning_content"`
	ToolCalls        []callDelta `json:"tool_calls"`
}

type callDelta struct {
	Index    *int  `json:"index"`
	ID       loose `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments loose  `json:"arguments"`
	} `json:"function"`
}

// loose is text that some vendors send as another JSON value: a string is its text, null is empty, anything else is
// its JSON.
type loose string

// UnmarshalJSON reads any value.
func (l *loose) UnmarshalJSON(raw []byte) error {
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*l = loose(text)
		return nil
	}
	*l = loose(raw)
	return nil
}

// usage reads the token counts; what cannot be read counts as not said.
func (c chunk) usage() *run.Usage {
	var counted *run.Usage
	if len(c.Usage) == 0 || json.Unmarshal(c.Usage, &counted) != nil || counted == nil {
		return nil
	}
	if counted.TotalTokens == 0 {
		counted.TotalTokens = counted.PromptTokens + counted.CompletionTokens
	}
	return counted
}
