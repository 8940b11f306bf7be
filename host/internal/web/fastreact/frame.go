package fastreact

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
)

// frame is what one server-sent event carries: the event, and in the same object a chat.completion.chunk, so that
// one stream is read by clients of either. It depends on nothing but the stored run and event.
type frame struct {
	wireEvent
	ID      string      `json:"id"`
	Object  string      `json:"object"`
	Created int64       `json:"created"`
	Model   string      `json:"model"`
	Choices []choice    `json:"choices"`
	Usage   *run.Usage  `json:"usage,omitempty"`
	Error   *fatalError `json:"error,omitempty"` // a client library gives up on it: only where the run failed
}

type choice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
}

type fatalError struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    string `json:"code"`
}

func (f *face) toFrame(r run.Run, e run.Event) frame {
	wire := frame{
		wireEvent: toEvent(e),
		ID:        completionID(r),
		Object:    "chat.completion.chunk",
		Created:   r.CreatedAt.Unix(),
		Model:     f.modelOf(r),
	}
	var only choice
	if e.Sequence == 0 {
		only.Delta.Role = "assistant"
	}
	switch e.Kind {
	case run.SessionEnd:
		stop := finishReason(e)
		only.FinishReason, wire.Usage = &stop, usageOf(e)
		if !inParts(e) {
			only.Delta.Content = e.Content
		}
	case run.AnswerDelta:
		only.Delta.Content = e.Content
	case run.Errored:
		wire.Error = toFatal(e)
	}
	wire.Choices = []choice{only}
	return wire
}

// inParts reports whether the answer was sent in parts before its end.
func inParts(e run.Event) bool {
	var metadata struct {
		Deltas int `json:"answer_deltas"`
	}
	return json.Unmarshal(orObject(e.Metadata), &metadata) == nil && metadata.Deltas > 0
}

// finishReason is the stop reason in the words of a chat.completion, which knows few.
func finishReason(e run.Event) string {
	var metadata struct {
		Reason string `json:"stop_reason"`
	}
	if json.Unmarshal(orObject(e.Metadata), &metadata) == nil {
		switch metadata.Reason {
		case "length", "content_filter":
			return metadata.Reason
		}
	}
	return "stop"
}

func completionID(r run.Run) string { return "chatcmpl-" + r.ID }

func (f *face) modelOf(r run.Run) string {
	if r.Request.Model != "" {
		return r.Request.Model
	}
	return f.cfg.Model
}

// usageOf returns the tokens that a session_end says the run took; nil when unknown.
func usageOf(e run.Event) *run.Usage {
	var metadata struct {
		Total *run.Usage `json:"llm_usage_total"`
	}
	if json.Unmarshal(orObject(e.Metadata), &metadata) != nil {
		return nil
	}
	return metadata.Total
}

func toFatal(e run.Event) *fatalError {
	metadata := struct {
		Type string `json:"error_type"`
		Code string `json:"code"`
	}{Type: "RunError", Code: string(run.CodeInternal)}
	// Metadata that does not fit leaves the neutral words above.
	_ = json.Unmarshal(orObject(e.Metadata), &metadata)
	return &fatalError{Message: e.Content, Type: metadata.Type, Code: metadata.Code}
}
