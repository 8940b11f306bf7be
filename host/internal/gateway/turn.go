package gateway

import "context"

// turn is one walk on its shelf.
type turn struct {
	Turn
}

// Start begins a turn.
func (g *Gateway) Start(ctx context.Context, objective string) (Turn, error) {
	return Turn{}, refuse(CodeClosed, "not yet")
}

// Resume goes on with a turn.
func (g *Gateway) Resume(ctx context.Context, turnID string) (Turn, error) {
	return Turn{}, refuse(CodeClosed, "not yet")
}
