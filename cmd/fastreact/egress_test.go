package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/plugins/mcpbridge"
)

const canary = "canary-mcp-credential"

// mcpEndpoint is a real MCP server behind a handler that may get in its way. Its one tool is called as a header reads.
func mcpEndpoint(t *testing.T, before func(w http.ResponseWriter, r *http.Request) (done bool)) string {
	t.Helper()
	inner := mcpserver.NewMCPServer("real", "1")
	inner.AddTool(mcp.NewTool("echo"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("you came with " + r.Header.Get("Authorization")), nil
	})
	serving := mcpserver.NewStreamableHTTPServer(inner)
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			serving.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(outer.Close)
	return outer.URL
}

// reach connects a bridge as the program wires it, and returns the tools it finds and what it says of the server.
func reach(t *testing.T, url string, edit func(*host.Config)) (bridge *mcpbridge.Bridge, tools int, said string) {
	t.Helper()
	config := host.DefaultConfig()
	config.MCP.Servers = []host.MCPServerConfig{{
		Name: "web", URL: url, Transport: "http", Isolation: "shared", Elicitation: "decline",
		Headers: map[string]host.Secret{"Authorization": "Bearer " + canary},
	}}
	if edit != nil {
		edit(&config)
	}
	bridge, err := mcpbridge.New(mcpbridge.Config{
		Servers: servers(config.MCP), Transport: transports(config.MCP, host.NewEgress(config)), Kept: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bridge.Close() })
	tools = len(bridge.Tools(t.Context()))
	return bridge, tools, bridge.Status()[0].LastError
}

func TestMCPServerAtItsURLIsReached(t *testing.T) {
	url := mcpEndpoint(t, nil)
	for _, address := range []string{url, strings.Replace(url, "127.0.0.1", "localhost", 1)} {
		if _, tools, said := reach(t, address+"/mcp", nil); tools != 1 {
			t.Errorf("%s: %d tools, %s", address, tools, said)
		}
	}
}

func TestMCPServerThatRedirectsWithinItsOriginIsReached(t *testing.T) {
	url := mcpEndpoint(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
		}
		return r.URL.Path == "/mcp"
	})
	if _, tools, said := reach(t, url+"/mcp", nil); tools != 1 {
		t.Errorf("%d tools, %s", tools, said)
	}
}

func TestMCPServerCannotSendTheServiceElsewhere(t *testing.T) {
	var followed atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer thief.Close()
	for _, location := range []string{
		thief.URL, strings.Replace(thief.URL, "127.0.0.1", "localhost", 1), "http://169.254.169.254/", "file:///etc/passwd",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			url := mcpEndpoint(t, func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, location, status)
				return true
			})
			if _, tools, said := reach(t, url+"/mcp", nil); tools > 0 || followed.Load() > 0 {
				t.Errorf("%d to %s: %d tools, %s", status, location, tools, said)
			}
		}
	}
}

func TestMCPServerThatIsThisServiceIsRefusedEvenIfNamed(t *testing.T) {
	url := mcpEndpoint(t, nil)
	port := url[strings.LastIndex(url, ":"):]
	for _, own := range []string{"127.0.0.1", "0.0.0.0", "", "localhost", "[::]"} {
		for _, named := range []string{"127.0.0.1", "localhost", "127.0.0.2"} {
			if own == "127.0.0.1" && named == "127.0.0.2" || own == "localhost" && named == "127.0.0.2" {
				continue // not the service, and nobody listens there
			}
			_, tools, said := reach(t, "http://"+named+port+"/mcp", func(config *host.Config) {
				config.Server.Addr = own + port
				config.MCP.Servers[0].Addresses = []string{"0.0.0.0/0", "::/0"}
			})
			if tools > 0 || !strings.Contains(said, "come back to this service") {
				t.Errorf("%s%s reached at %s: %d tools, %q", own, port, named, tools, said)
			}
		}
	}
}

func TestMCPServerThatReflectsItsCredentialIsNotHeard(t *testing.T) {
	url := mcpEndpoint(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"` + r.Header.Get("Authorization") + `"}}`))
		}
		return r.Method == http.MethodPost
	})
	_, tools, said := reach(t, url+"/mcp", nil)
	if tools > 0 || strings.Contains(said, canary) || !strings.Contains(said, "shows a secret") {
		t.Errorf("%d tools, %q", tools, said)
	}
}
