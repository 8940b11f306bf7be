package mcpbridge

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// dialer opens sessions with one server.
type dialer struct {
	spec   Server
	config Config
	forker *forker
	spawn  func(func(context.Context)) bool
}

// unbounded lifts the library's bound on the question that only servers of protocol version 2026-07-28 answer. It is put
// to a server that has answered another one before, and the attempt as a whole is bounded.
const unbounded = -1

// dial connects and shakes hands, within ctx. It asks in the way every server but the newest understands first, so
// that no server is made to wait for a question it ignores, and in the newest way only when that was refused.
func (d dialer) dial(ctx context.Context) (*session, error) {
	w, err := d.open(true)
	if err != nil {
		return nil, err
	}
	c, err := d.handshake(ctx, w, client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
	if err == nil {
		return newSession(w, c.ProtocolVersion(), d.replies()), nil
	}
	if ctx.Err() != nil || !refusedHandshake(err) {
		d.discard(w)
		return nil, fmt.Errorf("%w: %w", errHandshake, err)
	}
	return d.dialModern(ctx, w)
}

func (d dialer) dialModern(ctx context.Context, w wire) (*session, error) {
	if d.spec.Transport == transportHTTP || w.failure() != nil {
		d.discard(w)
		var err error
		if w, err = d.open(false); err != nil {
			return nil, err
		}
	}
	c, err := d.handshake(ctx, w, client.WithDiscoverTimeout(unbounded))
	if err != nil {
		d.discard(w)
		return nil, fmt.Errorf("%w: %w", errHandshake, err)
	}
	s := newSession(w, c.ProtocolVersion(), d.replies())
	if offer := c.GetServerCapabilities().Tools; offer != nil && offer.ListChanged && mcp.IsModernProtocol(s.version) {
		s.tasks.Go(func() { listen(c) })
	}
	return s, nil
}

// listen asks for news of changed tools, as servers of the newest protocol want, until the wire is closed. A server
// that refuses is one whose tools do not change under us.
func listen(c *client.Client) {
	_ = c.Listen(context.Background(), mcp.SubscriptionFilter{ToolsListChanged: true})
}

// discard closes a wire off the caller's path: a child may take a while to end.
func (d dialer) discard(w wire) {
	w.fail(errHandshake)
	if !d.spawn(func(context.Context) { _ = w.Close() }) {
		_ = w.Close()
	}
}

func (d dialer) open(listening bool) (wire, error) {
	if d.spec.Transport == transportHTTP {
		return openHTTP(d.spec, d.config, listening)
	}
	return openStdio(d.spec, d.config, d.forker)
}

func (d dialer) replies() replies { return replies{d.spec.Elicitation} }

// handshake declares no roots and no sampling, which the bridge does not offer, and elicitation as configured.
func (d dialer) handshake(ctx context.Context, w wire, option client.ClientOption) (*client.Client, error) {
	c := client.NewClient(w, option, client.WithClientCapabilities(d.replies().capabilities()))
	if err := c.Start(ctx); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	request := mcp.InitializeRequest{}
	request.Params.ClientInfo = clientInfo()
	if _, err := c.Initialize(ctx, request); err != nil {
		if reason := w.failure(); reason != nil && !errors.Is(err, reason) {
			err = fmt.Errorf("%w: %w", reason, err)
		}
		return nil, err
	}
	return c, nil
}

// refusedHandshake reports whether the server answered, and the answer was no.
func refusedHandshake(err error) bool {
	for _, unanswered := range []error{errExited, errNotStarted, errUnreachable, errRefused, errTooLarge, errTimeout, errClosed, transport.ErrAuthorizationRequired} {
		if errors.Is(err, unanswered) {
			return false
		}
	}
	return true
}
