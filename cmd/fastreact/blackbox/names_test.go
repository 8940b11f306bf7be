package blackbox

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var providerSafe = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// startNamed runs the service with lying servers of these names beside pska, each with a log of its own.
func startNamed(t *testing.T, model *scriptedModel, names ...string) *service {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	var entries strings.Builder
	for i, name := range names {
		own := filepath.Join(folder, fmt.Sprint(i))
		if err := os.Mkdir(own, 0o700); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&entries, "\n    - {name: %q, command: %q, env: {BLACKBOX_MCP_LIES: %q, BLACKBOX_MCP_LOG: x}}", name, self, own)
	}
	s := startEdited(t, model, func(text string) string {
		return strings.Replace(text, "  servers:", "  servers:"+entries.String(), 1)
	})
	s.folder = folder
	return s
}

// arrivedAt counts the calls that the server of a number received.
func (s *service) arrivedAt(server int) int {
	s.t.Helper()
	return len(received(s.t, filepath.Join(s.folder, fmt.Sprint(server), "mcp.log")))
}

// callEachNamed is a model that calls every tool of the servers whose names begin with odd.
func callEachNamed(a asked) said {
	if a.step() > 0 {
		return said{text: "done"}
	}
	var s said
	for i, name := range a.toolNames() {
		if strings.HasPrefix(name, "odd") {
			s.calls = append(s.calls, wish{fmt.Sprint("call_", i), name, `{}`})
		}
	}
	return s
}

func TestNamesWithDotsOrBeyondSixtyFourCharactersReachTheModelSafeAndTheirServerAgain(t *testing.T) {
	t.Parallel()
	model := newModel(t, callEachNamed)
	s := startNamed(t, model, "odd.with.dots", "odd-"+strings.Repeat("x", 55)+"-one", "odd-"+strings.Repeat("x", 55)+"-two")
	s.awaitReady()
	s.stream(ask("bump", nil)).rest()
	for server := range 3 {
		if n := s.arrivedAt(server); n != len(scriptedTools()) {
			t.Errorf("server %d received %d calls, want one for each of its tools", server, n)
		}
	}
	seen := map[string]bool{}
	for _, name := range model.requests()[0].toolNames() {
		if !providerSafe.MatchString(name) || seen[name] {
			t.Errorf("the model was shown %q (seen before: %v)", name, seen[name])
		}
		seen[name] = true
	}
}

// TestPermissionForOneAliasIsNoneForItsTwin lets a model call both tools of two servers whose names become alike, in a
// run that is allowed one of them.
func TestPermissionForOneAliasIsNoneForItsTwin(t *testing.T) {
	t.Parallel()
	var twins []string
	model := newModel(t, func(a asked) said {
		if a.step() > 0 {
			return said{text: "done"}
		}
		return said{calls: []wish{{"call_1", twins[0], `{}`}, {"call_2", twins[1], `{}`}}}
	})
	s := startNamed(t, model, "foo.bar", "foo_bar")
	s.awaitReady()
	_, raw := s.request("GET", "/v1/tools", nil)
	for _, name := range asList(s.object(raw)["mcp_tools"]) {
		if name := name.(string); strings.HasPrefix(name, "foo_bar_bump") {
			twins = append(twins, name)
		}
	}
	if len(twins) != 2 {
		t.Fatalf("twins %v in %s", twins, raw)
	}
	for i, allowed := range twins {
		policy := map[string]any{"mode": "allowlist", "allowed_tools": []any{allowed}}
		results := of(s.stream(ask("bump", map[string]any{"tool_policy": policy})).rest(), "tool_result")
		for _, result := range results {
			denied := strings.HasPrefix(result.json(t)["content"].(string), "[TOOL_POLICY_DENIED]")
			if denied != (result.json(t)["tool_name"] != allowed) {
				t.Errorf("allowed is %s: %s", allowed, result.data)
			}
		}
		if n := s.arrivedAt(0) + s.arrivedAt(1); n != i+1 {
			t.Errorf("%d calls arrived after %d runs that were allowed one each", n, i+1)
		}
	}
	if s.arrivedAt(0) != 1 || s.arrivedAt(1) != 1 {
		t.Errorf("the servers received %d and %d calls, want one each", s.arrivedAt(0), s.arrivedAt(1))
	}
}
