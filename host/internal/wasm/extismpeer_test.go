package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	extismsdk "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"

	"github.com/fastreact/fastreact/examples/policycases"
	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// referenceCode keeps what Extism's own host compiled, for all tests.
var referenceCode = wazero.NewCompilationCache()

// reference runs a module on Extism's own host for Go.
func reference(t testing.TB, module []byte, manifest extismsdk.Manifest) *extismsdk.Plugin {
	t.Helper()
	manifest.Wasm = []extismsdk.Wasm{extismsdk.WasmData{Data: module}}
	plugin, err := extismsdk.NewPlugin(t.Context(), manifest, extismsdk.PluginConfig{EnableWasi: true, EnableHttpResponseHeaders: true, RuntimeConfig: wazero.NewRuntimeConfig().WithCompilationCache(referenceCode)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Close(context.WithoutCancel(t.Context())) })
	return plugin
}

func TestExtismModulesAnswerAsOnExtismsOwnHost(t *testing.T) {
	config := map[string]string{"greeting": "hello"}
	inputs := []string{"", "a", "greeting", "ninebytes", `{"a":[1,2,3]}`, strings.Repeat("Ünïcode 😀 ", 50), strings.Repeat("x", 70_001)}
	for name, guest := range map[string]struct {
		module []byte
		ours   *Plugin
	}{
		"Go":             {built(t, foreignGuests.pdk), goPDK(t, `{"greeting":"hello"}`)},
		"AssemblyScript": {assemblyScript(t, filepath.Join("testdata", "aspdk", "index.ts")), asPDK(t, `{"greeting":"hello"}`)},
	} {
		theirs := reference(t, guest.module, extismsdk.Manifest{Config: config})
		for _, tool := range []string{"echo", "vowels", "setting"} {
			for _, input := range inputs {
				_, want, err := theirs.Call(tool, []byte(input))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := callText(t, guest.ours, tool, input); err != nil || got != string(want) {
					t.Errorf("%s %s(%.40q): %.40q, %v; Extism says %.40q", name, tool, input, got, err, want)
				}
			}
		}
	}
}

func TestExtismPolicyAnswersAsOnExtismsOwnHost(t *testing.T) {
	ours := extismPolicy(t)
	theirs := reference(t, built(t, foreignGuests.policy), extismsdk.Manifest{})
	for _, c := range policycases.All() {
		input, err := json.Marshal(sdk.Question{Tool: c.Tool, Args: json.RawMessage(c.Args)})
		if err != nil {
			t.Fatal(err)
		}
		code, want, wantErr := theirs.Call("evaluate", input)
		got, err := ours.Exchange(t.Context(), sdk.OpEvaluate, CallContext{}, input)
		failed := wantErr != nil || code != 0
		if failed != (err != nil) || !failed && string(got) != string(want) {
			t.Errorf("%s: %s, %v; Extism says %s, %v", c.Name, got, err, want, wantErr)
		}
	}
}

func TestSymlinkLeadsAnExtismGuestOutOfItsFolderOnExtismsOwnHostOnly(t *testing.T) {
	outside, dir := filepath.Join(t.TempDir(), "secret"), t.TempDir()
	if err := os.WriteFile(outside, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	theirs := reference(t, built(t, foreignGuests.pdk), extismsdk.Manifest{AllowedPaths: map[string]string{dir: "/data"}})
	if _, got, err := theirs.Call("read", []byte("/data/link")); string(got) != "canary" {
		t.Errorf("Extism's own host keeps the guest inside now: %s, %v; say so where this project says otherwise", got, err)
	}
	ours := worldly(t, World{}, dir, "")
	if got, err := callText(t, ours, "read", "/data/link"); err == nil {
		t.Errorf("the guest read %s", got)
	}
}

// fakeNetwork is a world in which every name leads to one server, by a public address.
func fakeNetwork(server *httptest.Server) World {
	return World{Egress: egress.New(egress.Config{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Connect: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
	})}
}

func TestRedirectLeadsAnExtismGuestToAnotherHostOnExtismsOwnHostOnly(t *testing.T) {
	var server *httptest.Server
	handler := func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("X-Kind", "kept")
		target := "http://other.example/inner"
		if strings.HasPrefix(request.Host, "127.0.0.1:") {
			target = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/inner"
		}
		switch request.URL.Path {
		case "/hop":
			http.Redirect(w, request, target, http.StatusFound)
		default:
			_, _ = fmt.Fprint(w, request.URL.Path)
		}
	}
	server = httptest.NewServer(http.HandlerFunc(handler))
	t.Cleanup(server.Close)
	theirs := reference(t, built(t, foreignGuests.pdk), extismsdk.Manifest{AllowedHosts: []string{"127.0.0.1"}})
	if _, got, err := theirs.Call("fetch", []byte(server.URL+"/hop")); string(got) != "200 /inner kept" {
		t.Errorf("Extism's own host keeps the guest at its hosts now: %s, %v; say so where this project says otherwise", got, err)
	}
	ours := worldly(t, fakeNetwork(server), t.TempDir(), "")
	if got, err := callText(t, ours, "fetch", "http://api.example/outer"); err != nil || got != "200 /outer kept" {
		t.Errorf("what is granted: %s, %v", got, err)
	}
	if got, err := callText(t, ours, "fetch", "http://api.example/hop"); codeOf(t, err) != run.PluginTrapped || !strings.Contains(err.Error(), "egress_redirect_refused") {
		t.Errorf("the guest got %s, %v", got, err)
	}
}

func TestExtismGuestWithoutAGrantDoesNotLink(t *testing.T) {
	module := joined(t, Parts{Module: built(t, foreignGuests.pdk), Manifest: toolManifest(t, "read", "fetch")})
	_, err := newHost(t, Config{}).Load(t.Context(), Module{Bytes: module, AllowUnpinned: true})
	var failure *Failure
	if !errors.As(err, &failure) {
		t.Fatal(err)
	}
	for _, want := range []string{"extism:host/env http_request", "path_open", `capability "http"`, `capability "files"`} {
		if text := failure.Err.Error(); !strings.Contains(text, want) {
			t.Errorf("%s does not name %s", text, want)
		}
	}
}

func TestExtismGuestStartsAfreshAfterATrap(t *testing.T) {
	module, _ := shapes(t)
	theirs := reference(t, file(t, "..", "..", "..", "testdata", "extism", "shapes.wasm"), extismsdk.Manifest{})
	ours := load(t, newHost(t, Config{}), Module{Bytes: module})
	if _, _, err := theirs.Call("dirties-and-traps", nil); err == nil {
		t.Fatal("no trap")
	}
	if _, got, err := theirs.Call("looks", nil); string(got) != "1" {
		t.Errorf("Extism's own host starts afresh now: %s, %v; say so where this project says otherwise", got, err)
	}
	if _, err := callText(t, ours, "dirties-and-traps", ""); codeOf(t, err) != run.PluginTrapped {
		t.Error(err)
	}
	if got, err := callText(t, ours, "looks", ""); err != nil || got != "0" {
		t.Errorf("the next call finds %s, %v", got, err)
	}
}

func TestDeadlineOfTheCallerEndsAnExtismGuest(t *testing.T) {
	plugin := goPDK(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := plugin.Call(ctx, CallContext{}, sdk.Call{Tool: "spins", Args: json.RawMessage(`{}`)})
	if codeOf(t, err) != run.PluginTimedOut {
		t.Error(err)
	}
}
