package model

import (
	"context"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Mask takes secrets out of what leaves the house.
type Mask interface {
	Text(text string) string
	JSON(encoded []byte) []byte
}

// Discreet returns a client that asks without telling secrets: a tool may have said one, a caller its own token, and
// what a model reads leaves the house.
func Discreet(client Client, mask Mask) Client { return discreet{client, mask} }

type discreet struct {
	client Client
	mask   Mask
}

// Complete asks with a copy of the request in which no secret stands.
func (d discreet) Complete(ctx context.Context, request Request, onText func(string)) (Reply, error) {
	request.Messages = slices.Clone(request.Messages)
	for i := range request.Messages {
		request.Messages[i] = d.message(request.Messages[i])
	}
	request.Tools = slices.Clone(request.Tools)
	for i := range request.Tools {
		tool := &request.Tools[i]
		tool.Description, tool.Schema = d.mask.Text(tool.Description), d.mask.JSON(tool.Schema)
	}
	return d.client.Complete(ctx, request, onText)
}

func (d discreet) message(m run.Message) run.Message {
	m.Content, m.Reasoning = d.mask.Text(m.Content), d.mask.Text(m.Reasoning)
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i := range m.ToolCalls {
		call := &m.ToolCalls[i]
		call.Name, call.Arguments = d.mask.Text(call.Name), d.mask.Text(call.Arguments)
	}
	return m
}
