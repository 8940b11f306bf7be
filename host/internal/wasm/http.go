package wasm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/sdk"
)

// httpRequest is what a guest gives to fastreact:http/1 send. Fields that it has beyond these mean nothing.
type httpRequest struct {
	Method     string            `json:"method"`
	URL        string            `json:"url"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
	BodyBase64 []byte            `json:"body_base64"`
}

// httpResponse is what it is given. A body that is no UTF-8 stands in BodyBase64.
type httpResponse struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body,omitempty"`
	BodyBase64 string            `json:"body_base64,omitempty"`
}

// serveHTTP instantiates fastreact:http/1.
func serveHTTP(ctx context.Context, runtime wazero.Runtime) error {
	return serveAsked(ctx, runtime, moduleHTTP, map[string]api.GoModuleFunc{"send": asked(sendHTTP)})
}

// serveAsked instantiates a module of imports that take and give JSON.
func serveAsked(ctx context.Context, runtime wazero.Runtime, module string, functions map[string]api.GoModuleFunc) error {
	builder := runtime.NewHostModuleBuilder(module)
	for name, function := range functions {
		builder = builder.NewFunctionBuilder().
			WithGoModuleFunction(function, []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, []api.ValueType{api.ValueTypeI64}).
			Export(name)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// httpRequestSpare is what a request may take beside a body that is written in twice as many bytes as it has, or in
// base64. Reading JSON takes time, and no tick comes between.
const httpRequestSpare = 1 << 20

func sendHTTP(ctx context.Context, u *using, raw []byte) any {
	if int64(len(raw)) > 2*u.policy.Limits.Bytes+httpRequestSpare {
		return refused(string(egress.TooLarge), "The request is larger than one call may move.")
	}
	var request httpRequest
	if err := json.Unmarshal(raw, &request); err != nil || request.Body != "" && len(request.BodyBase64) > 0 {
		return refused(string(egress.BadRequest), "The request is no object of method, url, headers and one of body and body_base64.")
	}
	body := request.BodyBase64
	if request.Body != "" {
		body = []byte(request.Body)
	}
	response, err := u.send(ctx, sdk.HTTPRequest{Method: request.Method, URL: request.URL, Header: request.Headers, Body: body})
	var refusal *egress.Refusal
	if errors.As(err, &refusal) {
		return refused(string(refusal.Code), refusal.Sentence)
	}
	answer := httpResponse{Status: response.Status, Headers: response.Header}
	if utf8.Valid(response.Body) {
		answer.Body = string(response.Body)
	} else {
		answer.BodyBase64 = base64.StdEncoding.EncodeToString(response.Body)
	}
	return answer
}
