package model

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// unusableError is a chunk that says nothing or says that something broke.
type unusableError struct{ what string }

func (e *unusableError) Error() string { return "unusable chunk: " + e.what }

var errNameless = errors.New("tool call without a name")

// source is the library's stream, line by line.
type source interface{ RecvRaw() ([]byte, error) }

// hearing puts a reply together from its chunks.
type hearing struct {
	onText    func(string)
	started   bool // a token was heard
	finish    string
	model     string
	usage     *run.Usage
	text      strings.Builder
	reasoning strings.Builder
	calls     []*callParts
}

func (h *hearing) finished() bool { return h.finish != "" }

// broken makes a failure final once a token was heard: what broke then is a reply that was cut half way.
func (h *hearing) broken(failed *failure) *failure {
	if h.started && failed.retry {
		return &failure{code: run.CodeModelProtocol, cause: failed.cause}
	}
	return failed
}

// all hears the stream to its end. A clean end without a finish reason is errCut.
func (h *hearing) all(stream source, watch *watchdog) error {
	for {
		raw, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			if h.finished() {
				return nil
			}
			return errCut
		}
		if err != nil {
			return err
		}
		wasFinished := h.finished()
		if err := h.hear(raw); err != nil {
			return err
		}
		if h.finished() && !wasFinished {
			watch.tail()
		}
	}
}

func (h *hearing) hear(raw []byte) error {
	var piece chunk
	if err := json.Unmarshal(raw, &piece); err != nil {
		return &unusableError{err.Error()}
	}
	if len(piece.Error) > 0 && string(piece.Error) != "null" {
		return &unusableError{string(piece.Error)}
	}
	if piece.Model != "" {
		h.model = piece.Model
	}
	if usage := piece.usage(); usage != nil {
		h.usage = usage
	}
	for _, choice := range piece.Choices {
		if choice.Index == 0 && !h.finished() {
			if err := h.add(choice.Delta); err != nil {
				return err
			}
			h.finish = choice.Finish
		}
	}
	return nil
}

func (h *hearing) add(d delta) error {
	if text := strings.ReplaceAll(d.Content, "\x00", ""); text != "" {
		h.started = true
		h.text.WriteString(text)
		if h.onText != nil {
			h.onText(text)
		}
	}
	if d.ReasoningContent != "" {
		h.started = true
		h.reasoning.WriteString(d.ReasoningContent)
	}
	for _, call := range d.ToolCalls {
		h.started = true
		if err := h.piece(call); err != nil {
			return err
		}
	}
	return nil
}

// reply is the whole message, or the reason why it cannot be used.
func (h *hearing) reply(request Request) (Reply, *failure) {
	calls, err := h.toolCalls()
	if err != nil {
		return Reply{}, protocolError("reply: %w", err)
	}
	reply := Reply{
		Text: h.text.String(), Reasoning: h.reasoning.String(), ToolCalls: nameCalls(calls, request.Messages),
		Usage: h.usage, Model: h.model, FinishReason: FinishStop,
	}
	if reply.Model == "" {
		reply.Model = request.Model
	}
	switch {
	case h.finish == FinishFilter:
		return Reply{Usage: reply.Usage, Model: reply.Model, FinishReason: FinishFilter}, nil
	case h.finish == "error":
		return Reply{}, protocolError("vendor finished with an error")
	case h.finish == FinishLength && len(calls) > 0:
		return Reply{}, protocolError("tool calls were cut at the token limit")
	case len(calls) > 0:
		reply.FinishReason = FinishCalls
	case h.finish == FinishCalls, h.finish == "function_call":
		return Reply{}, protocolError("finish reason %s without a tool call", h.finish)
	case h.finish == FinishLength:
		reply.FinishReason = FinishLength
	}
	return reply, nil
}

func (h *hearing) toolCalls() ([]run.ToolCall, error) {
	var calls []run.ToolCall
	for _, parts := range h.calls {
		name := strings.TrimSpace(parts.name)
		if name == "" {
			return nil, errNameless
		}
		calls = append(calls, run.ToolCall{ID: parts.id, Name: name, Arguments: parts.arguments.String()})
	}
	return calls, nil
}
