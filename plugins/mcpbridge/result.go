package mcpbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fastreact/fastreact/sdk"
)

// callResult is the answer to tools/call, read no further than needed, so that one odd part does not spoil the rest.
type callResult struct {
	Content           json.RawMessage `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           json.RawMessage `json:"isError"`
	ResultType        mcp.ResultType  `json:"resultType"`
}

// readResult turns the answer to tools/call into a result. The text of a single text part stays byte for byte what
// the server sent; several parts are joined by newlines, and whatever is no text becomes a short descriptor.
func readResult(raw json.RawMessage) (sdk.Result, error) {
	if !given(raw) {
		return sdk.Result{}, fmt.Errorf("%w: the result is null", errUnreadable)
	}
	var answer callResult
	if err := json.Unmarshal(raw, &answer); err != nil {
		return sdk.Result{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if !answer.ResultType.IsComplete() {
		return sdk.Result{}, errNeedsInput
	}
	result := sdk.Result{IsError: string(answer.IsError) == "true"}
	if given(answer.StructuredContent) {
		result.Structured = answer.StructuredContent
	}
	parts, hasText := readContent(answer.Content)
	if hasText || result.Structured == nil {
		result.Content = strings.Join(parts, "\n")
	}
	return result, nil
}

func given(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}

// readContent returns one string per content part and whether any of them is text.
func readContent(raw json.RawMessage) (parts []string, hasText bool) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		if given(raw) {
			list = []json.RawMessage{raw}
		}
	}
	for _, entry := range list {
		text, isText := readPart(entry)
		parts = append(parts, text)
		hasText = hasText || isText
	}
	return parts, hasText
}

type contentPart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Data     string  `json:"data"`
	MIMEType string  `json:"mimeType"`
	URI      string  `json:"uri"`
	Resource struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
		Blob     string `json:"blob"`
	} `json:"resource"`
}

func readPart(entry json.RawMessage) (text string, isText bool) {
	if json.Unmarshal(entry, &text) == nil && given(entry) {
		return text, true // a bare string, as some servers send
	}
	var part contentPart
	if err := json.Unmarshal(entry, &part); err != nil {
		return "[content that cannot be read]", false
	}
	switch part.Type {
	case "text":
		if part.Text != nil {
			return *part.Text, true
		}
		return "[text without text]", false
	case "image", "audio":
		return fmt.Sprintf("[%s %s, %d bytes]", part.Type, label(part.MIMEType), decodedSize(part.Data)), false
	case "resource":
		size := len(part.Resource.Text) + decodedSize(part.Resource.Blob)
		return fmt.Sprintf("[resource %s %s, %d bytes]", label(part.Resource.URI), label(part.Resource.MIMEType), size), false
	case "resource_link":
		return fmt.Sprintf("[resource link %s]", label(part.URI)), false
	}
	return fmt.Sprintf("[content of unknown type %s]", label(part.Type)), false
}

func label(text string) string {
	if text = printable(text); text == "" {
		return "unnamed"
	}
	return clip(text, 200)
}

func decodedSize(base64 string) int {
	return len(strings.TrimRight(base64, "=")) * 3 / 4
}
