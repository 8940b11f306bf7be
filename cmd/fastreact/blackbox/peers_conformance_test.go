package blackbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/testdata/peers"
)

// tellConformance is the client command that the conformance suite runs: it tells the test where the suite's server
// listens, and lives until the test, which plays the client with the program under test, hangs up.
func tellConformance(address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(conn, os.Args[len(os.Args)-1])
	_, _ = io.Copy(io.Discard, conn)
}

// conform runs one scenario of the suite and has act play the client. It returns the checks that are more than notes.
func conform(t *testing.T, scenario string, act func(url string)) map[string]string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	suite := exec.CommandContext(ctx, peers.Node(t), npmPeer(t, "conformance"), "client", "--command", self, "--scenario", scenario,
		"--timeout", "90000", "--output-dir", folder)
	suite.Dir = folder
	suite.Env = append(os.Environ(), "BLACKBOX_CONFORMANCE="+listener.Addr().String())
	var out lockedBuffer
	suite.Stdout, suite.Stderr = &out, &out
	if err := suite.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	act(strings.TrimSpace(url))
	_ = conn.Close()
	if err := suite.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", scenario, err, out.String())
	}
	return checksIn(t, folder)
}

func checksIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(folder, "*", "checks.json"))
	nested, _ := filepath.Glob(filepath.Join(folder, "*", "*", "checks.json"))
	checks := map[string]string{}
	for _, file := range append(files, nested...) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var listed []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(raw, &listed); err != nil {
			t.Fatal(err)
		}
		for _, check := range listed {
			if check.Status != "INFO" {
				checks[check.ID] = strings.TrimSpace(check.Status + " " + check.ErrorMessage)
			}
		}
	}
	return checks
}

// TestClientConformsToTheProtocol lets the protocol's own suite judge the program: its calls go through the gate.
func TestClientConformsToTheProtocol(t *testing.T) {
	for _, c := range []struct {
		scenario, call string
		checks         []string
	}{
		{"initialize", "", []string{"mcp-client-initialization"}},
		{"tools_call", `suite_add_numbers {"a":5,"b":3}`, []string{"tool-add-numbers"}},
		{"sse-retry", `suite_test_reconnection {}`, []string{"client-sse-graceful-reconnect", "client-sse-retry-timing", "client-sse-last-event-id"}},
		{"elicitation-sep1034-client-defaults", `suite_test_client_elicitation_defaults {}`, []string{
			"client-elicitation-sep1034-string-default", "client-elicitation-sep1034-integer-default",
			"client-elicitation-sep1034-number-default", "client-elicitation-sep1034-enum-default", "client-elicitation-sep1034-boolean-default",
		}},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			checks := conform(t, c.scenario, func(url string) {
				s, _ := startPeers(t, "policy: {default_action: allow}\n", peer{name: "suite", url: url, more: ", elicitation: accept_defaults"})
				s.request("GET", "/ready", nil)
				if tool, args, has := strings.Cut(c.call, " "); has {
					s.call(tool, json.RawMessage(args)).demand(t, false, "")
				}
				s.kill() // the suite ends when nobody listens to its server any more
			})
			if len(checks) == 0 {
				t.Error("nothing was checked")
			}
			for _, id := range c.checks {
				if _, checked := checks[id]; !checked {
					t.Errorf("%s was not checked: %v", id, checks)
				}
			}
			for id, status := range checks {
				if status != "SUCCESS" && !strings.Contains(status, "slightly late") { // by a machine that does much else
					t.Errorf("%s: %s", id, status)
				}
			}
		})
	}
}
