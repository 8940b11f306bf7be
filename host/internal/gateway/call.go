package gateway

import (
	"context"
)

// Call makes one call.
func (g *Gateway) Call(ctx context.Context, request Request) (Reply, error) {
	return Reply{}, refuse(CodeClosed, "not yet")
}

// Result returns the result.
func (g *Gateway) Result(id string) (Result, error) {
	return Result{}, refuse(CodeClosed, "not yet")
}

// Activate makes a workspace the active one.
func (g *Gateway) Activate(id string) error { return refuse(CodeClosed, "not yet") }

// Close ends every call.
func (g *Gateway) Close(ctx context.Context) error { return refuse(CodeClosed, "not yet") }
