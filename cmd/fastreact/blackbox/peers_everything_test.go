package blackbox

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/testdata/peers"
)

// everything is the reference server that offers one of every kind.
func everything(t *testing.T) peer {
	return peer{name: "everything", program: []string{npmPeer(t, "mcp-server-everything"), "stdio"}}
}

// freePort returns a port of the loopback interface that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// serveEverything starts the server over HTTP on a port and waits until it listens.
func serveEverything(t *testing.T, port string) (stop func()) {
	t.Helper()
	command := exec.Command(peers.Node(t), npmPeer(t, "mcp-server-everything"), "streamableHttp")
	command.Env = append(os.Environ(), "PORT="+port)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { _ = command.Wait(); close(gone) }()
	stop = func() { _ = command.Process.Kill(); <-gone }
	t.Cleanup(stop)
	awaitPort(t, port)
	return stop
}

// awaitPort waits until somebody listens.
func awaitPort(t *testing.T, port string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(60 * time.Second)
	for {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("nobody listens on port %s", port)
		}
	}
}

// behindTee returns the address of a proxy before a server that writes every tools/call to the log first.
func behindTee(t *testing.T, port, log string) string {
	t.Helper()
	target, err := url.Parse("http://127.0.0.1:" + port)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { panic(http.ErrAbortHandler) },
	}
	tee := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			if oracle, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
				_, _ = oracle.Write(append(body, '\n'))
				_ = oracle.Close()
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = tee.Serve(listener) }()
	t.Cleanup(func() { _ = tee.Close() })
	return "http://" + listener.Addr().String() + "/mcp"
}

const everythingPolicy = "policy: {default_action: allow, tool_rules: {get-env: deny}}\n"

// everyKind asks the reference server for every kind of content.
func everyKind(t *testing.T, s *service, model *scriptedModel) {
	t.Helper()
	if names := s.tools("everything"); len(names) < 10 {
		t.Errorf("tools %v", names)
	}
	s.call("everything_echo", map[string]any{"message": "hi \u2028 <&>"}).demand(t, false, "Echo: hi \u2028 <&>")
	s.call("everything_get-sum", map[string]any{"a": "one", "b": 2}).demand(t, true, "nvalid")
	s.call("everything_get-structured-content", map[string]any{"location": "Chicago"}).demand(t, false, `{"temperature":`)
	s.call("everything_get-resource-links", map[string]any{"count": 2}).demand(t, false, "[resource link demo://resource/")
	s.call("everything_get-resource-reference", map[string]any{"resourceType": "Text", "resourceId": 1}).demand(t, false, "[resource demo://resource/dynamic/text/1 text/plain, ", "bytes]\nResource 1:")
	image := s.call("everything_get-tiny-image", map[string]any{})
	image.demand(t, false, "Here's the image you requested:\n[image image/png, 4033 bytes]\nThe image above is the MCP logo.")
	const picture = "iVBORw0KGgo"
	if whole := fmt.Sprint(image.metadata["source_result"]); !strings.Contains(whole, picture) {
		t.Errorf("the event lost the image: %v", image.metadata)
	}
	for _, request := range model.requests() {
		if strings.Contains(string(request.raw), picture) {
			t.Error("the model was sent the bytes of an image")
		}
	}
	s.denied(s.call("everything_get-env", map[string]any{}), "everything", "get-env")
}

func TestServerEverythingOverStdio(t *testing.T) {
	s, model := startPeers(t, everythingPolicy, everything(t))
	everyKind(t, s, model)
}

func TestServerEverythingOverHTTP(t *testing.T) {
	port := freePort(t)
	serveEverything(t, port)
	log := filepath.Join(t.TempDir(), "everything.log")
	s, model := startPeers(t, everythingPolicy, peer{name: "everything", url: behindTee(t, port, log)})
	_ = os.Symlink(log, filepath.Join(s.folder, "everything.log"))
	everyKind(t, s, model)
}

// TestAServerThatIsRestartedOverHTTPComesBack kills the reference server under the service and starts it again.
func TestAServerThatIsRestartedOverHTTPComesBack(t *testing.T) {
	port := freePort(t)
	stop := serveEverything(t, port)
	s, _ := startPeers(t, everythingPolicy, peer{name: "everything", url: "http://127.0.0.1:" + port + "/mcp"})
	s.tools("everything")
	stop()
	gone := s.resultIn(s.stream(ask(`everything_echo {"message":"into the void"}`, nil)).rest())
	gone.demand(t, true, "")
	serveEverything(t, port)
	s.await(60*time.Second, func() (bool, string) {
		_, raw := s.request("GET", "/ready", nil)
		return strings.Contains(string(raw), `"everything_echo"`), "the server does not come back: " + string(raw)
	})
	s.call("everything_echo", map[string]any{"message": "back"}).demand(t, false, "Echo: back")
}

// TestElicitationIsAnsweredAsConfigured lets the reference server ask a person.
func TestElicitationIsAnsweredAsConfigured(t *testing.T) {
	asking := everything(t)
	// it requires a name for which there is no default: that cannot be accepted
	for mode, want := range map[string]string{"cancel": "cancelled", "accept_defaults": "declined"} {
		t.Run(mode, func(t *testing.T) {
			asking.more = ", elicitation: " + mode
			s, _ := startPeers(t, "policy: {default_action: allow}\n", asking)
			s.call("everything_trigger-elicitation-request", map[string]any{}).demand(t, false, want)
		})
	}
	t.Run("by default nobody is asked", func(t *testing.T) {
		asking.more = ""
		s, _ := startPeers(t, "", asking)
		for _, name := range s.tools("everything") {
			if strings.Contains(name, "elicitation") {
				t.Errorf("offers %s", name)
			}
		}
	})
}
