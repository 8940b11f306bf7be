package guest

import (
	"context"
	"errors"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// Transport answers requests in place of the host, natively.
type Transport func(ctx context.Context, request sdk.HTTPRequest) (sdk.HTTPResponse, error)

type transportKey struct{}

// WithTransport returns a context under which Send asks transport. It is for go test: in a module the host alone answers.
func WithTransport(ctx context.Context, transport Transport) context.Context {
	return context.WithValue(ctx, transportKey{}, transport)
}

var errNoTransport = errors.New("guest.Send needs a host, or natively guest.WithTransport")

// Send asks the host to make one HTTP request. A module that uses it imports fastreact:http/1 and must request the
// capability http in its manifest; the operator grants scheme, host, port and methods. A refusal is a *sdk.Refusal; a
// status that is no success is none. The host bounds requests, bytes and redirects, and ends the request with the call.
func Send(ctx context.Context, request sdk.HTTPRequest) (sdk.HTTPResponse, error) {
	return send(ctx, request)
}

// writeHTTP writes a request as the host reads it.
func writeHTTP(request sdk.HTTPRequest) []byte {
	w := wire.NewWriter(answerSize + len(request.Body))
	w.TextIfAny("method", request.Method)
	w.Text("url", request.URL)
	if len(request.Header) > 0 {
		headers := wire.NewWriter(answerSize)
		for name, value := range request.Header {
			headers.Text(name, value)
		}
		w.Raw("headers", finish(headers))
	}
	writeBytes(w, "body", request.Body)
	return finish(w)
}

// readHTTP reads what the host answered.
func readHTTP(answer []byte) (sdk.HTTPResponse, error) {
	var response sdk.HTTPResponse
	var refusal *sdk.Refusal
	r := wire.NewReader(answer)
	m := wire.NewFields("status", "headers", "body", "body_base64", "error")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "status":
			response.Status = int(integer(r))
		case "headers":
			response.Header = map[string]string{}
			for header := range r.Members() {
				name := string(header)
				response.Header[name] = r.TextOrNull()
			}
		case "body":
			response.Body = []byte(r.TextOrNull())
		case "body_base64":
			response.Body = fromBase64(r)
		case "error":
			refusal = readRefusal(r)
		default:
			r.Skip()
		}
	}
	if err := r.End(); err != nil {
		return sdk.HTTPResponse{}, errors.New("read answer of the host: " + err.Error())
	}
	if refusal != nil {
		return sdk.HTTPResponse{}, refusal
	}
	return response, nil
}
