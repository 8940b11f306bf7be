package wasm

import (
	"context"
)

// extismResponse is what the last HTTP request of a call left behind.
type extismResponse struct {
	status  int
	headers []byte // a JSON object; nil: none
}

// extismWeb serves HTTP. These imports link only where HTTP is granted.
func extismWeb() map[string]extismFunction {
	return map[string]extismFunction{
		"http_request": {capabilityHTTP, signature{typeI64 + typeI64, typeI64}, func(ctx context.Context, v *visit, s []uint64) {
			s[0] = v.extismRequest(ctx, s[0], s[1])
		}},
		"http_status_code": {capabilityHTTP, signature{"", typeI32}, func(_ context.Context, v *visit, s []uint64) {
			s[0] = uint64(v.extism.response.status)
		}},
		"http_headers": {capabilityHTTP, signature{"", typeI64}, func(_ context.Context, v *visit, s []uint64) {
			s[0] = v.extism.arena.put(v.extism.response.headers)
		}},
	}
}

func (v *visit) extismRequest(context.Context, uint64, uint64) uint64 { return 0 }
