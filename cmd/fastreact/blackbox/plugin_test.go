package blackbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// misbehaving builds the plugin of testdata/misbehave as a policy, a scope plugin, a tool and a guard, once per test run, in a
// folder outside this repository: all that an author has.
var misbehaving = sync.OnceValues(func() (built map[string]string, err error) {
	built = map[string]string{}
	for _, kind := range []string{"policy", "scope", "tool", "guard"} {
		folder := filepath.Join(filepath.Dir(binary), "misbehave-"+kind)
		if err := os.CopyFS(folder, os.DirFS("testdata/misbehave")); err != nil {
			return nil, err
		}
		if err := os.Rename(filepath.Join(folder, kind+".json"), filepath.Join(folder, "manifest.json")); err != nil {
			return nil, err
		}
		if out, err := exec.Command(binary, "plugin", "build", folder).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("plugin build: %w\n%s", err, out)
		}
		built[kind] = filepath.Join(folder, "plugin.wasm")
	}
	return built, nil
})

// loading returns the configuration that loads the misbehaving plugin of a kind, with more keys of its entry.
func loading(t *testing.T, kind, more string) string {
	t.Helper()
	built, err := misbehaving()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("plugins: {cache_dir: %q, load: [{path: %q, allow_unpinned: true%s}]}\n", cacheDir(t), built[kind], more)
}

// behaves is a model that searches as the question says and counts one; then searches with a plugin that behaves.
func behaves(a asked) said {
	switch a.step() {
	case 0:
		asked := fmt.Sprintf(`{"query":"q","behave":%q}`, a.question())
		return said{calls: []wish{{"call_1", "pska_pska_search", asked}, {"call_2", "pska_bump", `{}`}}}
	case 2:
		return said{calls: []wish{{"call_3", "pska_pska_search", `{"query":"afterwards"}`}}}
	}
	return said{text: "done"}
}

// arrived lists what the scripted server received of one tool, as canonical arguments.
func (s *service) arrived(tool string) []string {
	s.t.Helper()
	var arguments []string
	for _, params := range received(s.t, s.oracleLog()) {
		if string(params["name"]) == `"`+tool+`"` {
			arguments = append(arguments, string(params["arguments"]))
		}
	}
	return arguments
}

// denial is what a client sees of a call that was denied.
type denial struct {
	Blocked bool
	Code    any
}

func denialOf(t *testing.T, f frame) denial {
	t.Helper()
	event := f.json(t)
	code := event["metadata"].(map[string]any)["denial_code"]
	return denial{strings.HasPrefix(event["content"].(string), "[SAFETY_BLOCKED] "), code}
}

func TestPolicyPluginThatFailsDeniesItsCallsAndNoOthers(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, behaves), loading(t, "policy", ", limits: {wall: 1s, output_bytes: 65536}"))
	for behave, code := range map[string]string{
		"trap": "plugin_trap", "exit": "plugin_trap", "spin": "plugin_timeout", "hog": "plugin_out_of_memory",
		"text": "plugin_bad_answer", "cut": "plugin_bad_answer", "trailing": "plugin_bad_answer",
		"null": "plugin_bad_answer", "empty": "plugin_bad_answer", "out-of-bounds": "plugin_bad_answer",
		"perhaps": "plugin_unknown_verdict", "loud": "plugin_unknown_verdict", "nameless": "plugin_unknown_verdict",
		"zero": "plugin_no_answer", "flood": "plugin_output_too_large",
	} {
		t.Run(behave, func(t *testing.T) {
			searches, bumps := len(s.arrived("pska_search")), len(s.arrived("bump"))
			results := of(s.stream(ask(behave, nil)).rest(), "tool_result")
			if len(results) != 3 {
				t.Fatalf("%d results, want 3\n%s", len(results), s.output)
			}
			if diff := cmp.Diff(denial{true, code}, denialOf(t, results[0])); diff != "" {
				t.Errorf("denied call (-want +got):\n%s\n%s", diff, results[0].data)
			}
			if bumps = len(s.arrived("bump")) - bumps; bumps != 1 {
				t.Errorf("the tool that the plugin does not judge ran %d times, want 1", bumps)
			}
			if calls := s.arrived("pska_search")[searches:]; len(calls) != 1 || !strings.Contains(calls[0], "afterwards") {
				t.Errorf("the server received %v, want the call afterwards only", calls)
			}
		})
	}
}

func TestFailingPolicyPluginIsNamedToOperators(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, behaves), loading(t, "policy", ""))
	s.stream(ask("trap", nil)).rest()
	_, raw := s.request("GET", "/metrics", nil)
	if want := `misbehave`; !strings.Contains(string(raw), want) {
		t.Errorf("metrics do not name the plugin:\n%s", raw)
	}
}

// ruleOfEachUser rules the search of the user that has the name of an action with that action.
const ruleOfEachUser = `policy:
  user_rules:
    "pska:allow": {tools: {pska_search: allow}}
    "pska:caution": {tools: {pska_search: caution}}
    "pska:require_approval": {tools: {pska_search: require_approval}}
    "pska:deny": {tools: {pska_search: deny}}
`

func TestPolicyPluginOnlyTightens(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, behaves), loading(t, "policy", "")+ruleOfEachUser)
	for _, c := range []struct{ rule, behave, level string }{
		{"deny", "allow", "forbidden"},
		{"require_approval", "allow", "danger"},
		{"require_approval", "caution", "danger"},
		{"caution", "allow", "caution"},
		{"allow", "caution", "caution"},
		{"allow", "require_approval", "danger"},
		{"caution", "deny", "forbidden"},
		{"require_approval", "deny", "forbidden"},
		{"allow", "trap", "forbidden"},
		{"allow", "allow", "safe"},
	} {
		got := dryRun(s, "pska_pska_search", `{"query":"q","behave":"`+c.behave+`"}`, "pska:"+c.rule)
		if got["level"] != c.level {
			t.Errorf("%s, %s: level is %v, want %s: %v", c.rule, c.behave, got["level"], c.level, got)
		}
	}
}

func TestPolicyPluginThatWantsAPersonAsksOne(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, behaves), loading(t, "policy", "")+"policy: {default_action: allow}\n")
	stream := s.stream(ask("require_approval", nil))
	all := stream.until("ask_user")
	event := all[len(all)-1].json(t)
	if event["content"] != "misbehave says require_approval" || event["tool_name"] != "pska_pska_search" {
		t.Errorf("question is %v", event)
	}
	if calls := s.arrived("pska_search"); len(calls) != 0 {
		t.Errorf("the server received %v before anybody approved", calls)
	}
	id := event["approval_request_id"].(string)
	if status, raw := s.request("POST", "/v1/approvals/"+id+"/approve", nil); status != 200 {
		t.Fatalf("approve: %d %s", status, raw)
	}
	stream.rest()
	if calls := s.arrived("pska_search"); len(calls) != 2 {
		t.Errorf("the server received %v, want the approved call and the one afterwards", calls)
	}
}

func TestShadowPluginIsHeardButDoesNotDecide(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, behaves), loading(t, "policy", ", shadow: true")+"policy: {default_action: allow}\n")
	for _, behave := range []string{"deny", "trap"} {
		got := dryRun(s, "pska_pska_search", `{"query":"q","behave":"`+behave+`"}`, "pska:user_primary")
		if got["level"] != "safe" {
			t.Errorf("%s: level is %v, want safe", behave, got["level"])
		}
		chain := got["chain"].([]any)
		last := chain[len(chain)-1].(map[string]any)
		if !strings.Contains(last["source"].(string), "misbehave") || last["action"] != "deny" {
			t.Errorf("%s: last opinion is %v", behave, last)
		}
	}
	s.stream(ask("deny", nil)).rest()
	if calls := s.arrived("pska_search"); len(calls) != 2 {
		t.Errorf("the server received %v, want both calls", calls)
	}
}
