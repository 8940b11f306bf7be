package mcpbridge

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/fastreact/fastreact/sdk"
)

// plainTransport goes wherever it is sent.
func plainTransport(string) (http.RoundTripper, error) { return &http.Transport{}, nil }

func httpSpec(url string) Server {
	return Server{Name: "web", URL: url, Timeout: 20 * time.Second}
}

// serveHTTP serves handler until the test ends or stop is called.
func serveHTTP(t *testing.T, address string, handler http.Handler) (url string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: handler}
	go func() { _ = s.Serve(listener) }()
	stop = func() { _ = s.Close() }
	t.Cleanup(stop)
	return "http://" + listener.Addr().String() + "/mcp", stop
}

func TestRealServerOverHTTPAnswers(t *testing.T) {
	url, _ := serveHTTP(t, "127.0.0.1:0", mcpserver.NewStreamableHTTPServer(realServer()))
	b := open(t, Config{Servers: []Server{httpSpec(url)}})
	if got := call(t, b, "web_echo", `{"text":"hello"}`, sdk.Identity{}).Content; got != "hello" {
		t.Errorf("got %q", got)
	}
}

func TestFiveMegabytesArriveWholeOverHTTP(t *testing.T) {
	url, _ := serveHTTP(t, "127.0.0.1:0", mcpserver.NewStreamableHTTPServer(realServer()))
	b := open(t, Config{Servers: []Server{httpSpec(url)}})
	if got := call(t, b, "web_big", `{}`, sdk.Identity{}).Content; len(got) != bigSize {
		t.Errorf("got %d bytes", len(got))
	}
}

func TestIdentityIsForwardedOverHTTP(t *testing.T) {
	url, _ := serveHTTP(t, "127.0.0.1:0", mcpserver.NewStreamableHTTPServer(realServer()))
	spec := httpSpec(url)
	spec.ForwardIdentity = true
	b := open(t, Config{Servers: []Server{spec}})
	if got := call(t, b, "web_identity", `{}`, sdk.Identity{UserKey: "u", TenantKey: "t"}).Content; got != "u t" {
		t.Errorf("got %q", got)
	}
}

func TestRestartedHTTPServerIsUsedAgain(t *testing.T) {
	url, stop := serveHTTP(t, "127.0.0.1:0", mcpserver.NewStreamableHTTPServer(realServer()))
	b := open(t, Config{Servers: []Server{httpSpec(url)}, Heartbeat: time.Hour})
	call(t, b, "web_echo", `{"text":"before"}`, sdk.Identity{})
	stop()
	serveHTTP(t, strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"), mcpserver.NewStreamableHTTPServer(realServer()))
	if first := within(t, invoke(context.Background(), b, "web_echo")); first.err != nil && !failureOf(t, first).MayHaveRun {
		t.Errorf("a call that certainly did not run was not sent again: %+v", first.err)
	}
	if got := call(t, b, "web_echo", `{"text":"after"}`, sdk.Identity{}).Content; got != "after" {
		t.Errorf("got %q", got)
	}
}

func TestForgottenSessionStartsANewOneAndTheCallIsSentOnce(t *testing.T) {
	for name, refuse := range map[string]func(http.ResponseWriter){
		"404": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
		"400": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			inner := mcpserver.NewStreamableHTTPServer(realServer())
			url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(body(r), `"tools/call"`) && calls.Add(1) == 1 {
					refuse(w)
					return
				}
				inner.ServeHTTP(w, r)
			}))
			b := open(t, Config{Servers: []Server{httpSpec(url)}})
			call(t, b, "web_echo", `{"text":"x"}`, sdk.Identity{})
			if got := calls.Load(); got != 2 {
				t.Errorf("sent %d times, want one refused and one served", got)
			}
		})
	}
}

// body reads a request's body and puts it back.
func body(r *http.Request) string {
	data, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(data)))
	return string(data)
}

func TestCallBrokenOffOverHTTPIsNotSentAgain(t *testing.T) {
	var calls atomic.Int32
	inner := mcpserver.NewStreamableHTTPServer(realServer())
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(body(r), `"tools/call"`) {
			calls.Add(1)
			panic(http.ErrAbortHandler)
		}
		inner.ServeHTTP(w, r)
	}))
	b := open(t, Config{Servers: []Server{httpSpec(url)}})
	failure := failureOf(t, within(t, invoke(context.Background(), b, "web_echo")))
	if !failure.MayHaveRun || calls.Load() != 1 {
		t.Errorf("got %+v after %d calls", failure, calls.Load())
	}
}

// refusal is how a transport says no.
type refusal struct{}

func (refusal) Error() string { return "egress_private_address: 10.0.0.1" }

func (refusal) SafeSentence() string { return "Its address is not public." }

func (refusal) Refused() bool { return true }

func (refusal) NotSent() bool { return true }

// RoundTrip refuses.
func (r refusal) RoundTrip(*http.Request) (*http.Response, error) { return nil, r }

func TestTransportThatRefusesIsQuotedInItsSafeWords(t *testing.T) {
	b := open(t, Config{Servers: []Server{httpSpec("http://docs.example/mcp")}, Transport: func(string) (http.RoundTripper, error) {
		return refusal{}, nil
	}})
	b.Tools(context.Background())
	want := "MCP server web is not reached: Its address is not public."
	if got := b.Status()[0].LastError; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBridgeWithoutAWayOutReachesNoServer(t *testing.T) {
	if _, err := openHTTP(httpSpec("http://192.0.2.1/mcp"), Config{}.withDefaults(), false); err == nil {
		t.Error("it opened a way of its own")
	}
}

func TestConfiguredHeadersAreSentWithEveryRequest(t *testing.T) {
	inner := mcpserver.NewStreamableHTTPServer(realServer())
	var bare atomic.Int32
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer canary" {
			bare.Add(1)
		}
		inner.ServeHTTP(w, r)
	}))
	spec := httpSpec(url)
	spec.Headers = Secrets{"Authorization": "Bearer canary"}
	b := open(t, Config{Servers: []Server{spec}})
	call(t, b, "web_echo", `{}`, sdk.Identity{})
	_ = b.Close()
	if bare.Load() != 0 {
		t.Errorf("%d requests lacked the header", bare.Load())
	}
}

func TestEveryUserHasASessionOfTheirOwnOverHTTP(t *testing.T) {
	inner := mcpserver.NewStreamableHTTPServer(realServer())
	seen := make(chan string, 10)
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(body(r), `"tools/call"`) {
			seen <- r.Header.Get("Mcp-Session-Id")
		}
		inner.ServeHTTP(w, r)
	}))
	spec := httpSpec(url)
	spec.Isolation = isolationPerUser
	b := open(t, Config{Servers: []Server{spec}})
	sessions := map[string]sdk.Identity{}
	for _, who := range []sdk.Identity{{TenantKey: "t", UserKey: "alice"}, {TenantKey: "t", UserKey: "bob"}, {TenantKey: "u", UserKey: "alice"}, {UserKey: "alice"}} {
		call(t, b, "web_echo", `{"text":"x"}`, who)
		call(t, b, "web_echo", `{"text":"y"}`, who)
		first, second := within(t, seen), within(t, seen)
		if other, taken := sessions[first]; taken || first == "" || first != second {
			t.Errorf("%+v used the sessions %q and %q, one of them of %+v", who, first, second, other)
		}
		sessions[first] = who
	}
}

func TestAnswerForAnotherRequestIsNotTaken(t *testing.T) {
	inner := mcpserver.NewStreamableHTTPServer(realServer())
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(body(r), `"tools/call"`) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":4711,"result":{"content":[{"type":"text","text":"of somebody else"}]}}`)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	b := open(t, Config{Servers: []Server{httpSpec(url)}})
	failure := failureOf(t, within(t, invoke(context.Background(), b, "web_echo")))
	if failure.Sentence != "MCP server web sent an answer that cannot be read." || !failure.MayHaveRun {
		t.Errorf("got %+v", failure)
	}
}

func TestRefusedCredentialsAreNamed(t *testing.T) {
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "canary vendor text", http.StatusUnauthorized)
	}))
	b := open(t, Config{Servers: []Server{httpSpec(url)}})
	b.Tools(context.Background())
	if got := b.Status()[0].LastError; got != "MCP server web refused the credentials." {
		t.Errorf("got %q", got)
	}
}

func TestOversizedHTTPAnswerFailsItsCallOnly(t *testing.T) {
	url, _ := serveHTTP(t, "127.0.0.1:0", mcpserver.NewStreamableHTTPServer(realServer()))
	b := open(t, Config{Servers: []Server{httpSpec(url)}, MaxResultBytes: 1 << 20})
	if got := failureOf(t, within(t, invoke(context.Background(), b, "web_big"))).Sentence; got != "MCP server web sent more than is accepted." {
		t.Errorf("got %q", got)
	}
	if got := call(t, b, "web_echo", `{"text":"fine"}`, sdk.Identity{}).Content; got != "fine" {
		t.Errorf("got %q", got)
	}
}

func TestCancelledHTTPCallReturnsAtOnceAndIsCancelledAtTheServer(t *testing.T) {
	inner := mcpserver.NewStreamableHTTPServer(realServer())
	arrived, cancelled := make(chan struct{}, 1), make(chan struct{}, 1)
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch text := body(r); {
		case strings.Contains(text, `"tools/call"`):
			raise(arrived)
		case strings.Contains(text, `"notifications/cancelled"`):
			raise(cancelled)
		}
		inner.ServeHTTP(w, r)
	}))
	b := open(t, Config{Servers: []Server{httpSpec(url)}})
	b.Tools(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	done := invoke(ctx, b, "web_wait")
	within(t, arrived)
	cancel()
	if failure := failureOf(t, within(t, done)); !errors.Is(failure, context.Canceled) {
		t.Errorf("got %+v", failure)
	}
	within(t, cancelled)
}

func TestChangedToolListOverHTTPIsReadAgain(t *testing.T) {
	server := realServer()
	listening := make(chan struct{}, 1)
	inner := mcpserver.NewStreamableHTTPServer(server)
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w = &flushTap{ResponseWriter: w, flushed: listening}
		}
		inner.ServeHTTP(w, r)
	}))
	log := logTap{make(chan string, 100)}
	b := open(t, Config{Servers: []Server{httpSpec(url)}, Log: slog.New(log)})
	before := len(b.Tools(context.Background()))
	within(t, listening)
	log.await(t, "mcp server loaded")
	server.AddTool(mcp.NewTool("added"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("new"), nil
	})
	log.await(t, "mcp server loaded")
	if after := len(b.Tools(context.Background())); after != before+1 {
		t.Errorf("%d tools became %d", before, after)
	}
}

// flushTap tells when the answer's head was sent.
type flushTap struct {
	http.ResponseWriter
	flushed chan struct{}
}

func (f *flushTap) Flush() {
	f.ResponseWriter.(http.Flusher).Flush()
	raise(f.flushed)
}

func TestUnreachableHTTPServerCertainlyDidNotRunTheCall(t *testing.T) {
	url, stop := serveHTTP(t, "127.0.0.1:0", mcpserver.NewStreamableHTTPServer(realServer()))
	b := open(t, Config{Servers: []Server{httpSpec(url)}, Heartbeat: time.Hour})
	b.Tools(context.Background())
	stop()
	within(t, invoke(context.Background(), b, "web_echo")) // finds out; nobody knows whether this one ran
	failure := failureOf(t, within(t, invoke(context.Background(), b, "web_echo")))
	if failure.MayHaveRun || strings.Contains(failure.Sentence, "127.0.0.1") {
		t.Errorf("got %+v", failure)
	}
}

func TestHeartbeatNoticesThatAnHTTPServerIsGone(t *testing.T) {
	url, stop := serveHTTP(t, "127.0.0.1:0", mcpserver.NewStreamableHTTPServer(realServer()))
	log := logTap{make(chan string, 100)}
	b := open(t, Config{Servers: []Server{httpSpec(url)}, Heartbeat: 20 * time.Millisecond, Log: slog.New(log)})
	b.Tools(context.Background())
	stop()
	log.await(t, "mcp server cannot be used")
	want := []sdk.SourceStatus{{Name: "web", Transport: "http", Isolation: "shared", Loaded: true, ToolCount: 7, LastError: "MCP server web cannot be reached.", Quarantined: []string{}}}
	if diff := cmp.Diff(want, b.Status()); diff != "" {
		t.Error(diff)
	}
}

func TestServerOfTheNewestProtocolIsUsed(t *testing.T) {
	inner := mcpserver.NewStreamableHTTPServer(realServer())
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(body(r), `"method":"initialize"`) {
			http.Error(w, "gone", http.StatusBadRequest)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	spec := httpSpec(url)
	spec.ForwardIdentity = true
	b := open(t, Config{Servers: []Server{spec}})
	if got := call(t, b, "web_identity", `{}`, sdk.Identity{UserKey: "u", TenantKey: "t"}).Content; got != "u t" {
		t.Errorf("got %q", got)
	}
}

func TestChangedToolListOfTheNewestProtocolIsReadAgain(t *testing.T) {
	server := realServer()
	listening := make(chan struct{}, 1)
	inner := mcpserver.NewStreamableHTTPServer(server)
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch text := body(r); {
		case strings.Contains(text, `"method":"initialize"`):
			http.Error(w, "gone", http.StatusBadRequest)
			return
		case strings.Contains(text, `"subscriptions/listen"`):
			w = &flushTap{ResponseWriter: w, flushed: listening}
		}
		inner.ServeHTTP(w, r)
	}))
	log := logTap{make(chan string, 100)}
	b := open(t, Config{Servers: []Server{httpSpec(url)}, Log: slog.New(log)})
	before := len(b.Tools(context.Background()))
	log.await(t, "mcp server loaded")
	within(t, listening)
	server.AddTool(mcp.NewTool("added"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("new"), nil
	})
	log.await(t, "mcp server loaded")
	if after := len(b.Tools(context.Background())); after != before+1 {
		t.Errorf("%d tools became %d", before, after)
	}
}
