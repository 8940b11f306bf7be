package wasm

import (
	"context"
	"fmt"

	"github.com/fastreact/fastreact/sdk"
)

// extismResponse is what the last HTTP request of a call left behind.
type extismResponse struct {
	status  int
	headers []byte // a JSON object; nil: none
}

const capabilityHTTP = "http"

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

func missingExtismHTTP(manifest sdk.Manifest, i imported) error {
	if manifest.Kind.Pure() {
		return fmt.Errorf("import %s %s: capability %q is never granted to a %s, nobody can add it; the author must build without the PDK's HTTP functions",
			i.module, i.name, capabilityHTTP, manifest.Kind)
	}
	return fmt.Errorf("import %s %s: capability %q is not granted; the operator may add it in plugins.load[].grants.http",
		i.module, i.name, capabilityHTTP)
}
