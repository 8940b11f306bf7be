package mcpbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// callResult is the answer to tools/call, read no further than needed, so that one odd part does not spoil the rest.
type callResult struct {
	Content           json.RawMessage `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           json.RawMessage `json:"isError"`
}

// readResult turns the answer to tools/call into a result. The text of a single text part stays byte for byte what
// the server sent; several parts are joined by newlines, the text of an embedded resource stands below a line that
// names it, and whatever is no text becomes one line that describes it. Where that leaves something out, an image or
// structured data that the text does not repeat, the result also holds the whole answer, for readers of the event.
func readResult(raw json.RawMessage) (sdk.Result, error) {
	if !given(raw) {
		return sdk.Result{}, fmt.Errorf("%w: the result is null", errUnreadable)
	}
	var answer callResult
	if err := json.Unmarshal(raw, &answer); err != nil {
		return sdk.Result{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	result := sdk.Result{IsError: string(answer.IsError) == "true"}
	if given(answer.StructuredContent) {
		result.Structured = answer.StructuredContent
	}
	content := readContent(answer.Content)
	if content.hasText || result.Structured == nil {
		result.Content = strings.Join(content.parts, "\n")
	}
	if content.leavesOut || content.hasText && result.Structured != nil && !repeats(result.Content, result.Structured) {
		result.Whole = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return result, nil
}

// repeats reports whether text says all of a JSON value: it is the value, however it is written, or the one member of
// an object.
func repeats(text string, structured json.RawMessage) bool {
	var said, value any
	if json.Unmarshal(structured, &value) != nil {
		return false
	}
	isJSON := json.Unmarshal([]byte(text), &said) == nil
	if isJSON && reflect.DeepEqual(said, value) {
		return true
	}
	object, _ := value.(map[string]any)
	for _, member := range object {
		return len(object) == 1 && (member == text || isJSON && reflect.DeepEqual(said, member))
	}
	return false
}

func given(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}

// readParts is content as text.
type readParts struct {
	parts     []string
	hasText   bool // one of the parts is text
	leavesOut bool // one of them is described only
}

func readContent(raw json.RawMessage) readParts {
	var read readParts
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		if given(raw) {
			list = []json.RawMessage{raw}
		}
	}
	for _, entry := range list {
		text, isText := readPart(entry)
		read.parts = append(read.parts, text)
		read.hasText = read.hasText || isText
		read.leavesOut = read.leavesOut || !isText
	}
	return read
}

type contentPart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Data     string  `json:"data"`
	MIMEType string  `json:"mimeType"`
	URI      string  `json:"uri"`
	Name     string  `json:"name"`
	Resource struct {
		URI      string  `json:"uri"`
		MIMEType string  `json:"mimeType"`
		Text     *string `json:"text"`
		Blob     string  `json:"blob"`
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
		head := fmt.Sprintf("[resource %s %s, ", label(part.Resource.URI), label(part.Resource.MIMEType))
		if part.Resource.Text != nil {
			return fmt.Sprintf("%s%d bytes]\n%s", head, len(*part.Resource.Text), *part.Resource.Text), true
		}
		return fmt.Sprintf("%s%d bytes]", head, decodedSize(part.Resource.Blob)), false
	case "resource_link":
		return fmt.Sprintf("[resource link %s %s]", label(part.URI), label(part.Name)), false
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
