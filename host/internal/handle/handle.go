// Package handle lets the model read on in a tool result that was too long for it. It promises that a run reads its
// own results only, exactly as they stand in its events. What a model sees at first is left to the agent, and who may
// use the tool to the gate.
package handle

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// ToolName is the registered name of the tool that reads on.
const ToolName = "read_result"

const (
	description = "Reads on in a tool result of this conversation that was too long to be shown whole. The handle stands " +
		"where the result was cut. Offsets count bytes."
	schema = `{"type":"object","properties":{` +
		`"handle":{"type":"string","description":"The handle that stands where the result was cut."},` +
		`"offset":{"type":"integer","minimum":0,"description":"Byte to begin at; 0 when absent."},` +
		`"limit":{"type":"integer","minimum":1,"description":"Bytes to read at most."}},` +
		`"required":["handle"],"additionalProperties":false}`
)

// footer is room for the words below a part.
const footer = 200

// Of returns the handle of the result that stands in an event: the event's public id.
func Of(ref run.Ref, sequence int64) string { return ref.ID + ":" + strconv.FormatInt(sequence, 10) }

// Log reads the events of runs. The ledger is one.
type Log interface {
	Events(ctx context.Context, ref run.Ref, after int64, limit int) ([]run.Event, error)
}

// Source offers the tool to the gate. It may be used from many goroutines.
type Source struct {
	log      Log
	maxBytes int
	tool     run.Tool
}

// New returns a source that answers with at most maxBytes bytes at a time.
func New(log Log, maxBytes int) *Source {
	return &Source{log: log, maxBytes: maxBytes, tool: run.Tool{
		Name: ToolName, RawName: ToolName, Description: description, Schema: json.RawMessage(schema),
		Source: run.FromNative, Plugin: "handle", Digest: run.Digest([]byte(ToolName + description + schema)),
	}}
}

// Tools lists the one tool.
func (s *Source) Tools(context.Context) []run.Tool { return []run.Tool{s.tool} }

// Invoke returns a part of a result of the calling run. What the model asked for wrongly is its own error.
func (s *Source) Invoke(ctx context.Context, _ run.Tool, call sdk.Call) (sdk.Result, error) {
	asked := struct {
		Handle string `json:"handle"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}{Limit: s.maxBytes}
	if err := json.Unmarshal(call.Args, &asked); err != nil {
		return wrong("handle must be a text, offset and limit must be whole numbers"), nil
	}
	text, err := s.text(ctx, call, asked.Handle)
	switch {
	case err != nil:
		return sdk.Result{}, err
	case text == "":
		return wrong("this conversation has no result with the handle " + strconv.Quote(asked.Handle)), nil
	case asked.Offset < 0 || asked.Offset > len(text) || asked.Limit < 1:
		return wrong(fmt.Sprintf("the result has %d bytes: offset must lie between 0 and that, limit must be above 0", len(text))), nil
	}
	return sdk.Result{Content: part(text, asked.Offset, min(asked.Limit, max(s.maxBytes-footer, 1)))}, nil
}

// text returns the whole result behind a handle, empty when the calling run has none.
func (s *Source) text(ctx context.Context, call sdk.Call, handle string) (string, error) {
	ref := run.Ref{Tenant: run.TenantKey(call.Identity.TenantKey), ID: call.RunID}
	place, known := strings.CutPrefix(handle, ref.ID+":")
	sequence, err := strconv.ParseInt(place, 10, 64)
	if !known || err != nil || sequence < 0 {
		return "", nil
	}
	events, err := s.log.Events(ctx, ref, sequence-1, 1)
	if err != nil {
		return "", fmt.Errorf("read result %s: %w", handle, err)
	}
	if len(events) == 0 || events[0].Sequence != sequence || events[0].Kind != run.ToolResult {
		return "", nil
	}
	return events[0].Content, nil
}

// part cuts whole letters out of text and says where the next part begins.
func part(text string, offset, limit int) string {
	begin := letterStart(text, offset)
	end := letterStart(text, min(begin+limit, len(text)))
	if end == begin && end < len(text) { // the limit is shorter than one letter
		_, width := utf8.DecodeRuneInString(text[begin:])
		end = begin + width
	}
	if end == len(text) {
		return fmt.Sprintf("%s\n[bytes %d to %d of %d: the end]", text[begin:end], begin, end, len(text))
	}
	return fmt.Sprintf("%s\n[bytes %d to %d of %d; the next part begins at offset %d]", text[begin:end], begin, end, len(text), end)
}

// letterStart is the first byte of the letter that holds the byte at i.
func letterStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

func wrong(sentence string) sdk.Result {
	return sdk.Result{Content: "read_result: " + sentence, IsError: true}
}
