package mcpbridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// relay is where the children of a test report; the test plays the server behind each of them.
type relay struct {
	listener net.Listener
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return &relay{listener}
}

// server configures a server whose every child reports to the relay.
func (r *relay) server(name string) Server {
	return Server{Name: name, Command: os.Args[0], Timeout: 20 * time.Second, Env: Secrets{
		roleVariable: "relay", addressVariable: r.listener.Addr().String(), "GORACE": raceExit,
	}}
}

// accept waits for the next child.
func (r *relay) accept(t *testing.T) *peer {
	t.Helper()
	conn := within(t, async(func() net.Conn {
		conn, err := r.listener.Accept()
		if err != nil {
			return nil
		}
		return conn
	}))
	if conn == nil {
		t.Fatal("relay closed")
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &peer{conn: conn, lines: bufio.NewReader(conn)}
}

// peer is the far end of one child.
type peer struct {
	conn  net.Conn
	lines *bufio.Reader
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// next reads the next message the bridge wrote.
func (p *peer) next(t *testing.T) message {
	t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	line, err := p.lines.ReadString('\n')
	if err != nil {
		t.Fatalf("read from bridge: %v", err)
	}
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("bridge wrote %q: %v", line, err)
	}
	return m
}

// expect reads the next message and demands its method.
func (p *peer) expect(t *testing.T, method string) message {
	t.Helper()
	m := p.next(t)
	if m.Method != method {
		t.Fatalf("bridge sent %q, want %q", m.Method, method)
	}
	return m
}

func (p *peer) write(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.conn, line+"\n"); err != nil {
		t.Fatalf("write to bridge: %v", err)
	}
}

func (p *peer) reply(t *testing.T, to message, result string) {
	t.Helper()
	p.write(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.ID, result))
}

func (p *peer) replyText(t *testing.T, to message, text string) {
	t.Helper()
	quoted, _ := json.Marshal(text)
	p.reply(t, to, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, quoted))
}

const initialized = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`

// welcome plays the handshake and offers the tools.
func (p *peer) welcome(t *testing.T, tools ...string) {
	t.Helper()
	p.greet(t)
	p.list(t, tools...)
}

func (p *peer) greet(t *testing.T) {
	t.Helper()
	p.reply(t, p.expect(t, "initialize"), initialized)
	p.expect(t, "notifications/initialized")
}

func (p *peer) list(t *testing.T, tools ...string) {
	t.Helper()
	p.reply(t, p.expect(t, "tools/list"), `{"tools":[`+strings.Join(tools, ",")+`]}`)
}

// hangUp ends the child.
func (p *peer) hangUp() { _ = p.conn.Close() }

func tool(name string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
}

// impatient makes the bridge give up on calls and pings of its first server sooner.
func impatient(b *Bridge, timeout time.Duration) {
	s := b.servers[0]
	s.spec.Timeout = timeout
	s.clients[owner{}].silence = timeout
}

// raceExit keeps children built with the race detector from lingering a second at their end.
const raceExit = "atexit_sleep_ms=0"

// patience bounds waits that succeed at once when the code is right.
const patience = 20 * time.Second

func async[T any](work func() T) <-chan T {
	result := make(chan T, 1)
	go func() { result <- work() }()
	return result
}

func within[T any](t *testing.T, result <-chan T) T {
	t.Helper()
	select {
	case value := <-result:
		return value
	case <-time.After(patience):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

// open starts a bridge that the test closes.
func open(t *testing.T, config Config) *Bridge {
	t.Helper()
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	config.Kept = true
	if config.Transport == nil {
		config.Transport = plainTransport
	}
	b, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// meet opens a bridge with one fake server that offers the tools, and returns the server's end.
func meet(t *testing.T, change func(*Server), tools ...string) (*Bridge, *relay, *peer) {
	t.Helper()
	r := newRelay(t)
	spec := r.server("fake")
	if change != nil {
		change(&spec)
	}
	b := open(t, Config{Servers: []Server{spec}, MaxResultBytes: 1 << 20})
	listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
	p := r.accept(t)
	p.welcome(t, tools...)
	within(t, listed)
	return b, r, p
}

type outcome struct {
	result sdk.Result
	err    error
}

func invoke(ctx context.Context, b *Bridge, tool string) <-chan outcome {
	return async(func() outcome {
		result, err := b.Invoke(ctx, tool, sdk.Call{Args: json.RawMessage(`{}`)})
		return outcome{result, err}
	})
}

func failureOf(t *testing.T, o outcome) *Failure {
	t.Helper()
	var failure *Failure
	if !errors.As(o.err, &failure) {
		t.Fatalf("got %+v, want a failure", o)
	}
	return failure
}

func names(tools []sdk.NativeTool) []string {
	list := []string{}
	for _, tool := range tools {
		list = append(list, tool.Name)
	}
	return list
}

// logTap hands out the messages that are logged.
type logTap struct{ messages chan string }

func (l logTap) Enabled(context.Context, slog.Level) bool { return true }
func (l logTap) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logTap) WithGroup(string) slog.Handler            { return l }

func (l logTap) Handle(_ context.Context, record slog.Record) error {
	text := record.Message
	record.Attrs(func(attr slog.Attr) bool {
		text += " " + attr.String()
		return true
	})
	l.messages <- text
	return nil
}

// await returns the next message that begins like this.
func (l logTap) await(t *testing.T, prefix string) string {
	t.Helper()
	for {
		if text := within(t, l.messages); strings.HasPrefix(text, prefix) {
			return text
		}
	}
}
