package blackbox

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// breaking is text with every character that some reader of lines takes for the end of one.
const breaking = "a\u0085b\u2028c\u2029d\r\ne\vf\fg\x1ch\x1di\x1ej [end]"

// answersBreaking is a model that searches for such text and answers with it.
func answersBreaking(a asked) said {
	if a.step() == 0 {
		args, _ := json.Marshal(map[string]string{"query": breaking})
		return call("pska_pska_search", string(args))
	}
	return said{text: breaking}
}

func TestNoLineBreakButLFIsOnTheWire(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, answersBreaking), "")
	question := ask(breaking, map[string]any{"metadata": map[string]any{"run_id": "lines"}})
	whole := s.open("POST", "/v1/chat/completions", question)
	raw, err := io.ReadAll(whole.Body)
	_ = whole.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/runs/lines/stream", "/v1/runs/lines/events", "/v1/traces/lines", "/v1/traces/lines/events"} {
		_, more := s.request("GET", path, nil)
		raw = append(raw, more...)
	}
	if at := strings.IndexAny(string(raw), "\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"); at >= 0 {
		t.Errorf("a raw line break at %d: %q", at, raw[max(0, at-60):min(len(raw), at+20)])
	}
	all := newFrames(t, s.open("GET", "/v1/runs/lines/stream", nil).Body).rest()
	if got := of(all, "session_end")[0].json(t)["content"]; got != breaking {
		t.Errorf("the answer reads %q", got)
	}
	if got := of(all, "tool_call")[0].json(t)["tool_args"].(map[string]any)["query"]; got != breaking {
		t.Errorf("the arguments read %q", got)
	}
}

var frameShape = regexp.MustCompile(`^id: (\d+)\nevent: ([a-z_]+)\ndata: (\{.*\})\n\n$`)

// overlay is the part of a frame that a client of chat.completion.chunk reads.
type overlay struct {
	EventID string `json:"event_id"`
	Type    string `json:"type"`
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
	Choices []struct {
		Index        int             `json:"index"`
		Delta        json.RawMessage `json:"delta"`
		FinishReason *string         `json:"finish_reason"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// TestEveryFrameIsAChunkAndTheLastHasFinishReasonAndUsage reads the bytes of a run with a tool call.
func TestEveryFrameIsAChunkAndTheLastHasFinishReasonAndUsage(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	all := s.stream(ask("Question", map[string]any{"metadata": map[string]any{"run_id": "shape"}})).rest()
	last := len(all) - 2
	var created int64
	for i, f := range all[:last+1] {
		parts := frameShape.FindStringSubmatch(f.raw)
		if parts == nil || parts[1] != fmt.Sprint(i) {
			t.Fatalf("frame %d: %q", i, f.raw)
		}
		var o overlay
		if err := json.Unmarshal([]byte(f.data), &o); err != nil || len(o.Choices) != 1 {
			t.Fatalf("frame %d: %v %s", i, err, f.data)
		}
		if i == 0 {
			created = o.Created
		}
		delta, finish, usage := `{}`, "", ""
		switch i {
		case 0:
			delta = `{"role":"assistant"}`
		case last:
			delta, finish, usage = `{"content":"`+scriptedAnswer+`"}`, "stop", `{"prompt_tokens":20,"completion_tokens":10,"total_tokens":30}`
		}
		got := []any{o.EventID, o.Type, o.ID, o.Object, o.Model, string(o.Choices[0].Delta), orEmpty(o.Choices[0].FinishReason), string(o.Usage), string(o.Error)}
		want := []any{fmt.Sprintf("shape:%d", i), parts[2], "chatcmpl-shape", "chat.completion.chunk", "scripted", delta, finish, usage, ""}
		if diff := cmp.Diff(want, got); diff != "" || o.Created != created || created == 0 {
			t.Errorf("frame %d, created %d (-want +got):\n%s", i, o.Created, diff)
		}
	}
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// TestOnlyAFatalErrorIsAnErrorFrame has a tool that fails, one that is unknown and one that is denied: the run goes on,
// and nothing in the stream makes a client library give up.
func TestOnlyAFatalErrorIsAnErrorFrame(t *testing.T) {
	t.Parallel()
	s := startLying(t, newModel(t, func(a asked) said {
		if a.step() > 0 {
			return said{text: "done"}
		}
		return said{calls: []wish{
			{"call_1", "pska_pska_search", `{"query":"rpc error"}`},
			{"call_2", "no_such_tool", `{}`},
			{"call_3", "pska_bump", `{}`},
			{"call_4", "pska_pska_search", `{"query":`},
		}}
	}), "policy: {tool_rules: {bump: deny}}\n")
	all := s.stream(ask("Question", nil)).rest()
	if len(of(all, "tool_result")) != 4 || len(of(all, "session_end")) != 1 || len(of(all, "error")) != 0 {
		t.Errorf("events %v", kinds(all))
	}
	for _, f := range all[:len(all)-1] {
		if _, given := f.json(t)["error"]; given {
			t.Errorf("an error key in %s", f.data)
		}
	}
}

func TestModelsNameTheConfiguredModelAsOpenAIDoes(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	status, raw := s.request("GET", "/v1/models", nil)
	list := s.object(raw)
	models := asList(list["data"])
	if status != 200 || list["object"] != "list" || len(models) != 1 {
		t.Fatalf("%d %s", status, raw)
	}
	model := models[0].(map[string]any)
	if model["id"] != "scripted" || model["object"] != "model" {
		t.Errorf("%s", raw)
	}
	if _, isNumber := model["created"].(float64); !isNumber || model["owned_by"] == nil {
		t.Errorf("%s", raw)
	}
}
