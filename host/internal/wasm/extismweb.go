package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// extismResponse is what the last HTTP request of a call left behind.
type extismResponse struct {
	status  int
	headers []byte // a JSON object; nil: none
}

// extismRequest is what a PDK gives to http_request, beside the body.
type extismRequest struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
}

// extismWeb serves HTTP. PDKs import these functions only where a plugin uses them, and they link only where HTTP is
// granted.
func extismWeb() map[string]extismFunction {
	return map[string]extismFunction{
		"http_request": {capabilityHTTP, signature{typeI64 + typeI64, typeI64}, func(ctx context.Context, v *visit, s []uint64) {
			request, body := v.extism.arena.whole(s[0]), v.extism.arena.whole(s[1])
			v.extism.arena.spend(s[0])
			v.extism.arena.spend(s[1])
			s[0] = v.extism.arena.put(v.sendExtism(ctx, request, body))
		}},
		"http_status_code": {capabilityHTTP, signature{"", typeI32}, func(_ context.Context, v *visit, s []uint64) {
			s[0] = uint64(v.extism.response.status)
		}},
		"http_headers": {capabilityHTTP, signature{"", typeI64}, func(_ context.Context, v *visit, s []uint64) {
			s[0] = v.extism.arena.put(v.extism.response.headers)
		}},
	}
}

// sendExtism makes one request and returns the body of its answer. Extism has no way to tell a guest that a request
// failed, so that ends the call, as it does on other Extism hosts.
func (v *visit) sendExtism(ctx context.Context, raw, body []byte) []byte {
	v.extism.response = extismResponse{}
	var request extismRequest
	if len(raw) > httpRequestSpare || json.Unmarshal(raw, &request) != nil || v.using == nil {
		panic(fail(run.PluginTrapped, "http_request was given no request"))
	}
	response, err := v.using.send(ctx, sdk.HTTPRequest{
		Method: strings.ToUpper(request.Method), URL: request.URL, Header: request.Headers, Body: body,
	})
	var refusal *egress.Refusal
	switch {
	case errors.As(err, &refusal):
		panic(fail(run.PluginTrapped, "http_request was refused: %s", refusal.Code))
	case err != nil:
		panic(fail(run.PluginTrapped, "http_request: %w", err))
	}
	headers, err := json.Marshal(response.Header)
	if err != nil {
		panic(fail(run.PluginTrapped, "http_request: %w", err))
	}
	v.extism.response = extismResponse{response.Status, headers}
	return response.Body
}
