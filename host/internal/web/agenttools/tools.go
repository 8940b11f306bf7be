package agenttools

import (
	"encoding/json"
	"net/http"

	"github.com/fastreact/fastreact/host/internal/gateway"
)

// maxRefs bounds the objects that a call names.
const maxRefs = 64

func (v *visit) getCatalog() (reply, error) {
	tools := []descriptor{}
	for _, tool := range v.cfg.Gateway.Catalog(v.r.Context()).Tools {
		tools = append(tools, toDescriptor(tool))
	}
	return done(catalog{toolContract, 1, transport, tools}), nil
}

func (v *visit) startTurn() (reply, error) {
	var objective string
	if !v.body.into([]string{"objective"}, &objective) {
		return reply{}, refused(gateway.CodeInvalid)
	}
	turn, err := v.cfg.Gateway.Start(v.r.Context(), objective)
	if err != nil {
		return reply{}, err
	}
	return reply{
		status: http.StatusCreated, value: startedTurn{toolContract, turn.ID, turn.State, turn.ResearchPlan},
	}, nil
}

func (v *visit) call() (reply, error) {
	request, ok := readCall(v.body)
	if !ok {
		return reply{}, refused(gateway.CodeInvalid)
	}
	said, err := v.cfg.Gateway.Call(v.r.Context(), request)
	if err != nil {
		return reply{}, err
	}
	status := http.StatusCreated
	if said.Replayed {
		status = http.StatusOK
	}
	return reply{status: status, value: callReply{
		toolContract, said.TurnID, said.CallID, said.ResultID, said.ToolID, said.State, said.Replayed,
	}}, nil
}

// readCall reads the envelope of a call. What stands in the input is the gateway's to judge.
func readCall(body object) (request gateway.Request, ok bool) {
	var bare []json.RawMessage
	keys := []string{"turn_id", "tool_id", "input", "context", "object_refs", "idempotency_key"}
	if !body.into(keys, &request.TurnID, &request.ToolID, &request.Input, &request.Context, &bare, &request.Key) {
		return gateway.Request{}, false
	}
	if !isObject(request.Input) || !isObject(request.Context) && !isNull(request.Context) || len(bare) > maxRefs {
		return gateway.Request{}, false
	}
	for _, raw := range bare {
		id, ok := readRef(raw)
		if !ok {
			return gateway.Request{}, false
		}
		request.ObjectRefs = append(request.ObjectRefs, id)
	}
	return request, true
}

func readRef(raw json.RawMessage) (id string, ok bool) {
	var members object
	ok = isObject(raw) && fill(raw, &members) && members.into([]string{"object_id"}, &id)
	return id, ok
}

func (v *visit) resumeTurn() (reply, error) {
	turn, err := v.cfg.Gateway.Resume(v.r.Context(), v.vars[0])
	if err != nil {
		return reply{}, err
	}
	return done(resumedTurn{toolContract, turn.ID, turn.State}), nil
}

func (v *visit) getResult() (reply, error) {
	result, err := v.cfg.Gateway.Result(v.vars[0])
	if err != nil {
		return reply{}, err
	}
	return done(result.Encoded), nil
}

func (v *visit) getEvents() (reply, error) {
	page := v.cfg.Gateway.Events(v.cursor)
	events := []event{}
	for _, e := range page.Events {
		events = append(events, toEvent(e))
	}
	return done(eventPage[event]{toolContract, transport, page.Cursor, events, page.Gap}), nil
}
