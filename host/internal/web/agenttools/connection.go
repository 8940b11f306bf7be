package agenttools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// watchedListener makes connections on which is seen what net/http keeps from its handlers: lengths that are declared
// twice, hosts that are named twice, and its own answers to what it cannot read.
type watchedListener struct {
	net.Listener
	unparsed func(own []byte, twoHosts bool) []byte
}

// Accept waits for the next connection.
func (l watchedListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connection{Conn: accepted, frames: &frames{}, unparsed: l.unparsed}, nil
}

// connection is one of them.
type connection struct {
	net.Conn
	frames   *frames
	unparsed func(own []byte, twoHosts bool) []byte
}

// Read reads, and looks at what was read.
func (c *connection) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.frames.see(into[:n])
	return n, err
}

// Write writes, in the place of an answer of net/http's own one of the face.
func (c *connection) Write(from []byte) (int, error) {
	instead := c.unparsed(from, c.frames.twoHost.Load())
	if instead == nil {
		return c.Conn.Write(from)
	}
	if _, err := c.Conn.Write(instead); err != nil {
		return 0, err
	}
	return len(from), nil
}

// CloseWrite tells the client that nothing more comes, so that it reads the answer before the connection is gone.
func (c *connection) CloseWrite() error {
	if half, can := c.Conn.(interface{ CloseWrite() error }); can {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// ownAnswer is how every answer begins, after the status line, that net/http gives to what it cannot read.
const ownAnswer = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// unparsed returns the face's answer in the place of net/http's own, or nil where this is not one. The face's have many
// more headers, and no line break in a body.
func (f *Face) unparsed(own []byte, twoHosts bool) []byte {
	if !bytes.HasPrefix(own, []byte("HTTP/1.1 ")) {
		return nil
	}
	status, _, found := strings.Cut(string(own), "\r\n")
	expectation := strings.HasPrefix(status, "HTTP/1.1 417 ")
	if !found || !expectation && !strings.HasPrefix(string(own[len(status):]), ownAnswer) {
		return nil
	}
	if twoHosts {
		return f.rawAnswer(hostRejected)
	}
	return f.rawAnswer(unparsedCode(status, string(own)))
}

// unparsedCode says what was wrong with a request that could not be read.
func unparsedCode(status, text string) run.Code {
	switch {
	case strings.HasPrefix(status, "HTTP/1.1 431 "):
		return headersTooLarge
	case strings.Contains(text, "Host header"):
		return hostRejected
	}
	return invalidRequest
}

// rawAnswer is a refusal as bytes for a connection that ends after it.
func (f *Face) rawAnswer(code run.Code) []byte {
	status, shown := f.public(refused(code))
	body, err := web.Encode(shown)
	if err != nil {
		return nil
	}
	header := http.Header{}
	secure(header)
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", fmt.Sprint(len(body)))
	header.Set("Connection", "close")
	var answer bytes.Buffer
	fmt.Fprintf(&answer, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = header.Write(&answer) // a buffer takes everything
	answer.WriteString("\r\n")
	return slices.Concat(answer.Bytes(), body)
}

// framesKey finds the frames of a connection in a request's context.
type framesKey struct{}

func withFrames(ctx context.Context, c net.Conn) context.Context {
	if watched, is := c.(*connection); is {
		return context.WithValue(ctx, framesKey{}, watched.frames)
	}
	return ctx
}

// twiceFramed reports whether a request on this connection declared its length twice, even if in the same words. Nothing
// that comes on such a connection is believed any more.
func twiceFramed(ctx context.Context) bool {
	seen, is := ctx.Value(framesKey{}).(*frames)
	return is && seen.twice.Load()
}
