package blackbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var handleShown = regexp.MustCompile(`\[cut: the first (\d+) of (\d+) bytes are shown; .*handle "([^"]+)", offset (\d+)\]`)

// text is the content of the last message of a request, when it is a string.
func (a asked) text() string {
	var text string
	_ = json.Unmarshal(a.Messages[len(a.Messages)-1].Content, &text)
	return text
}

// longFile makes a model that reads a file of 5000 bytes, and then does what a call that knows the handle says.
func longFile(next func(handle, offset string) said) func(asked) said {
	content := strings.Repeat("0123456789", 499) + "the end..!"
	return func(a asked) said {
		switch a.step() {
		case 0:
			return call("write_file", fmt.Sprintf(`{"path":"long.txt","content":%q}`, content))
		case 1:
			return said{calls: []wish{{"call_2", "read_file", `{"path":"long.txt"}`}}}
		case 2:
			shown := handleShown.FindStringSubmatch(a.text())
			if shown == nil {
				return said{text: "No handle: " + a.text()}
			}
			return next(shown[3], shown[4])
		}
		return said{text: "Read."}
	}
}

func TestAResultOverTheLimitIsAPreviewWithAHandleThatReadsOn(t *testing.T) {
	t.Parallel()
	model := newModel(t, longFile(func(handle, _ string) said {
		return said{calls: []wish{{"call_3", "read_result", fmt.Sprintf(`{"handle":%q,"offset":4990}`, handle)}}}
	}))
	s := start(t, model, "tools: {max_result_bytes: 1000}")
	results := of(s.stream(ask("Read it.", nil)).rest(), "tool_result")
	if len(results) != 3 {
		t.Fatalf("%d results", len(results))
	}
	if whole, _ := results[1].json(t)["content"].(string); !strings.Contains(whole, "the end..!") || len(whole) < 5000 {
		t.Errorf("the event holds %d bytes", len(whole))
	}
	rest := results[2].json(t)
	if content, _ := rest["content"].(string); !strings.Contains(content, "the end..!") || !strings.Contains(content, "[bytes 4990 to ") {
		t.Errorf("read on: %v", rest["content"])
	}
	if metadata, _ := rest["metadata"].(map[string]any); metadata["decision_level"] != "safe" {
		t.Errorf("metadata %v", metadata)
	}
	for _, request := range model.requests() {
		if len(request.text()) > 1300 {
			t.Errorf("the model saw %d bytes of a result", len(request.text()))
		}
	}
}

func TestAHandleOfAnotherRunReadsNothing(t *testing.T) {
	t.Parallel()
	stolen := ""
	model := newModel(t, longFile(func(handle, _ string) said {
		if stolen == "" {
			stolen = handle
		}
		return said{calls: []wish{{"call_3", "read_result", fmt.Sprintf(`{"handle":%q}`, stolen)}}}
	}))
	s := start(t, model, "tools: {max_result_bytes: 1000}")
	for i, refused := range []bool{false, true} {
		results := of(s.stream(ask("Read it.", nil)).rest(), "tool_result")
		read := results[len(results)-1].json(t)
		if got := strings.Contains(read["content"].(string), "no result with the handle"); got != refused {
			t.Errorf("run %d: %v", i, read["content"])
		}
	}
}

func TestToolPolicyHoldsForReadResult(t *testing.T) {
	t.Parallel()
	model := newModel(t, longFile(func(handle, _ string) said {
		return said{calls: []wish{{"call_3", "read_result", fmt.Sprintf(`{"handle":%q}`, handle)}}}
	}))
	s := start(t, model, "tools: {max_result_bytes: 1000}")
	policy := map[string]any{"mode": "allowlist", "allowed_tools": []any{"write_file", "read_file"}}
	results := of(s.stream(ask("Read it.", map[string]any{"tool_policy": policy})).rest(), "tool_result")
	want := "[TOOL_POLICY_DENIED] tool 'read_result' is not in run tool_policy allowed_tools"
	if last := results[len(results)-1].json(t); last["content"] != want {
		t.Errorf("got %v", last["content"])
	}
	if shown := model.requests()[0].toolNames(); len(shown) != 2 {
		t.Errorf("the model saw %v", shown)
	}
}
