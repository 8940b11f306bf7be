//go:build !wasip1

package guest

import (
	"context"

	"github.com/fastreact/fastreact/sdk"
)

func send(ctx context.Context, request sdk.HTTPRequest) (sdk.HTTPResponse, error) {
	transport, ok := ctx.Value(transportKey{}).(Transport)
	if !ok {
		return sdk.HTTPResponse{}, errNoTransport
	}
	return transport(ctx, request)
}
