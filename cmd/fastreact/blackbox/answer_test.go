package blackbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/option"
)

// tellTale is a model that searches, then tells how, and does not learn: put right, it still says a part of it.
func tellTale(a asked) said {
	first := ""
	if len(a.Messages) > 0 {
		_ = json.Unmarshal(a.Messages[0].Content, &first)
	}
	switch {
	case strings.HasPrefix(first, "You put an answer right"):
		return said{text: "FastReAct found it. [1] Alpha is 3.14. Beta is two."}
	case a.step() == 0:
		return call("pska_pska_search", `{"query":"alpha"}`)
	}
	return said{text: "I called pska_pska_search over MCP. [1] Alpha is 3.14. Beta is two."}
}

const toldAnswer = "[1] Alpha is 3.14. Beta is two."

func TestAnAnswerIsLookedThroughBeforeAnybodyReadsIt(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, tellTale), "")
	for _, deltas := range []bool{false, true} {
		last, all := s.end("What is alpha?", map[string]any{"stream_deltas": deltas})
		if last["content"] != toldAnswer {
			t.Errorf("answer %v", last["content"])
		}
		metadata, _ := last["metadata"].(map[string]any)
		check, _ := metadata["answer_check"].(map[string]any)
		if check["findings"] != 2.0 || check["rewritten"] != true || check["dropped"] != 1.0 {
			t.Errorf("answer_check %v", check)
		}
		if usage, _ := metadata["llm_usage_total"].(map[string]any); usage["total_tokens"] != 45.0 {
			t.Errorf("usage of three model calls: %v", usage)
		}
		for _, f := range all {
			if strings.Contains(f.raw, "over MCP") || strings.Contains(f.raw, "found it") {
				t.Errorf("the draft shows in %s", f.raw)
			}
		}
		id, _ := last["run_id"].(string)
		for _, path := range []string{"/v1/traces/" + id, "/v1/runs/" + id + "/events", "/v1/runs/" + id} {
			if _, raw := s.request("GET", path, nil); strings.Contains(string(raw), "over MCP") {
				t.Errorf("the draft shows in %s: %s", path, raw)
			}
		}
	}
	_, raw := s.request("POST", "/v1/chat/completions", ask("What is alpha?", map[string]any{"stream": false}))
	if s.object(raw)["content"] != toldAnswer {
		t.Errorf("summary %s", raw)
	}
}

func TestTheCheckCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, tellTale), "agent: {answer_check: false}\n")
	if last, _ := s.end("What is alpha?", nil); !strings.HasPrefix(last["content"].(string), "I called pska_pska_search over MCP.") {
		t.Errorf("answer %v", last["content"])
	}
}

func TestThePartsOfAnAnswerAreTheAnswerForEveryReader(t *testing.T) {
	t.Parallel()
	text := "One. Two costs 3.14!\n\n- three\n- four\n\n```\na. B\n```\nЭто пять. 这是六。七"
	s := start(t, newModel(t, func(asked) said { return said{text: text} }), "")
	all := s.stream(ask("parts", map[string]any{"stream_deltas": true})).rest()
	parts := of(all, "answer_delta")
	if len(parts) != 8 {
		t.Errorf("%d parts", len(parts))
	}
	joined, chunks := "", ""
	for _, f := range all[:len(all)-1] {
		chunks += deltaOf(t, f)
		if f.event == "answer_delta" {
			joined += f.json(t)["content"].(string)
		}
	}
	end := of(all, "session_end")[0]
	if joined != text || chunks != text || end.json(t)["content"] != text || deltaOf(t, end) != "" {
		t.Errorf("joined %q, chunks %q, end %s", joined, chunks, end.raw)
	}
	id, _ := end.json(t)["run_id"].(string)
	response := s.open("GET", "/v1/runs/"+id+"/stream", nil, "Last-Event-ID", parts[2].id)
	if rest := newFrames(t, response.Body).rest(); strings.Join(raws(rest), "") != strings.Join(raws(all[len(all)-len(rest):]), "") ||
		len(rest) != 7 {
		t.Errorf("resumed behind a part: %v", kinds(rest))
	}
}

// writing is a model that always writes these chunks.
func writing(chunks ...string) func(http.ResponseWriter, string, int) {
	return func(w http.ResponseWriter, _ string, _ int) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, chunk := range chunks {
			fmt.Fprintf(w, "data: %s\n\n", chunk)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// deltaOf is the text of a frame's chunk.
func deltaOf(t *testing.T, f frame) string {
	t.Helper()
	var chunk struct {
		Choices []struct {
			Delta struct {
				Content string `json:"content"`
			} `json:"delta"`
		} `json:"choices"`
	}
	if err := json.Unmarshal([]byte(f.data), &chunk); err != nil || len(chunk.Choices) != 1 {
		t.Fatalf("chunk %s: %v", f.raw, err)
	}
	return chunk.Choices[0].Delta.Content
}

func TestOpenAIClientReadsAnAnswerInPartsOnce(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, func(asked) said { return said{text: "One. Two. Three."} }), "")
	client := openaiClient(s)
	stream := client.Chat.Completions.NewStreaming(t.Context(), openaiQuestion(), option.WithJSONSet("stream_deltas", true))
	got, frames := "", 0
	for stream.Next() {
		if chunk := stream.Current(); len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			got += chunk.Choices[0].Delta.Content
			frames++
		}
	}
	if err := stream.Err(); err != nil || got != "One. Two. Three." || frames != 3 {
		t.Errorf("read %q in %d parts, %v", got, frames, err)
	}
}

func TestAModelWithNothingToSayEndsInASentence(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string][2]string{
		"stop":           {"empty_answer", "stop"},
		"length":         {"length", "length"},
		"content_filter": {"content_filter", "content_filter"},
	} {
		finish := strings.Replace(finishStop, `"stop"`, `"`+reason+`"`, 1)
		s := start(t, rawModel(t, writing(delta(`{"content":" \n"}`), finish)), "")
		last, all := s.end("anything", nil)
		metadata, _ := last["metadata"].(map[string]any)
		if last["type"] != "session_end" || strings.TrimSpace(last["content"].(string)) == "" || metadata["stop_reason"] != want[0] {
			t.Errorf("%s: %v", reason, last)
		}
		if !strings.Contains(of(all, "session_end")[0].data, `"finish_reason":"`+want[1]+`"`) {
			t.Errorf("%s: %s", reason, of(all, "session_end")[0].data)
		}
	}
}

// TestAnAnswerWithoutToolsIsReadWhileTheModelWrites holds the model back until a reader has the first sentence.
func TestAnAnswerWithoutToolsIsReadWhileTheModelWrites(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	model := rawModel(t, func(w http.ResponseWriter, _ string, _ int) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", delta(`{"content":"The first is one. The sec"}`))
		_ = http.NewResponseController(w).Flush()
		<-read
		fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n", delta(`{"content":"ond is MCP. The third is three."}`), finishStop)
	})
	s := start(t, model, "")
	stream := s.stream(ask("count", map[string]any{"stream_deltas": true, "tool_policy": map[string]any{"mode": "none"}}))
	first := stream.until("answer_delta")
	close(read)
	all := append(first, stream.rest()...)
	joined := ""
	for _, f := range of(all, "answer_delta") {
		joined += f.json(t)["content"].(string)
	}
	end := of(all, "session_end")[0].json(t)
	if got := first[len(first)-1].json(t)["content"]; got != "The first is one. " {
		t.Errorf("first part %q", got)
	}
	if !strings.HasPrefix(joined, "The first is one. ") || strings.Contains(joined, "MCP") || end["content"] != joined {
		t.Errorf("parts %q, answer %v", joined, end["content"])
	}
}
