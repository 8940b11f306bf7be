package host

import (
	"context"
	"slices"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// discreet asks a model without telling it the configured secrets: a tool may have said one, a caller its own token,
// and what a model reads leaves the house.
type discreet struct {
	model model.Client
	mask  web.Mask
}

// newDiscreet puts a mask between the service and its model.
func newDiscreet(client model.Client, cfg Config) discreet {
	return discreet{client, web.NewMask(append(secretsOf(cfg), cfg.Auth.ServiceToken.Reveal()))}
}

// Complete asks with a copy of the request in which no secret stands.
func (d discreet) Complete(ctx context.Context, request model.Request, onText func(string)) (model.Reply, error) {
	request.Messages = slices.Clone(request.Messages)
	for i := range request.Messages {
		request.Messages[i] = d.message(request.Messages[i])
	}
	request.Tools = slices.Clone(request.Tools)
	for i := range request.Tools {
		tool := &request.Tools[i]
		tool.Description, tool.Schema = d.mask.Text(tool.Description), d.mask.JSON(tool.Schema)
	}
	return d.model.Complete(ctx, request, onText)
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
