package fastreact

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// openAI returns a public client library, pointed at a server that plays runs.
func openAI(t *testing.T, play func(context.Context, *book, run.Run)) openai.Client {
	t.Helper()
	server := open(t, newBook(play), func(_ *Config, door *web.Config) { door.ServiceToken = token })
	return openai.NewClient(option.WithBaseURL(server.URL+"/v1"), option.WithAPIKey(token), option.WithMaxRetries(0))
}

func asking() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "demo-model", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Question")},
	}
}

func TestAnOpenAIClientStreamsTheAnswerOnce(t *testing.T) {
	client := openAI(t, searched)
	stream := client.Chat.Completions.NewStreaming(context.Background(), asking())
	var text, role, finish string
	var tokens int64
	for stream.Next() {
		chunk := stream.Current()
		text += chunk.Choices[0].Delta.Content
		role += chunk.Choices[0].Delta.Role
		finish += chunk.Choices[0].FinishReason
		tokens += chunk.Usage.TotalTokens
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"[The] answer", "assistant", "stop", int64(5)}, []any{text, role, finish, tokens}); diff != "" {
		t.Error(diff)
	}
}

func TestAnOpenAIClientReadsAnAnswerWithoutAStream(t *testing.T) {
	client := openAI(t, searched)
	answer, err := client.Chat.Completions.New(context.Background(), asking())
	if err != nil {
		t.Fatal(err)
	}
	got := []any{answer.Choices[0].Message.Content, answer.Choices[0].FinishReason, answer.Usage.TotalTokens}
	if diff := cmp.Diff([]any{"[The] answer", "stop", int64(5)}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnOpenAIClientSeesAFatalErrorAsOne(t *testing.T) {
	client := openAI(t, func(_ context.Context, b *book, r run.Run) {
		b.add(r.Ref, run.Event{Kind: run.SessionStart}, run.Event{
			Kind: run.Errored, Content: "The model is not available.",
			Metadata: json.RawMessage(`{"error_type":"ModelError","code":"model_unavailable"}`),
		})
		b.finish(r.Ref, run.Failed, run.Outcome{})
	})
	stream := client.Chat.Completions.NewStreaming(context.Background(), asking())
	for stream.Next() {
	}
	if err := stream.Err(); err == nil || !strings.Contains(err.Error(), "The model is not available.") {
		t.Errorf("%v", err)
	}
}

func TestAnOpenAIClientListsTheModel(t *testing.T) {
	client := openAI(t, nil)
	page, err := client.Models.List(context.Background())
	if err != nil || len(page.Data) != 1 || page.Data[0].ID != "demo-model" {
		t.Errorf("%v %v", page, err)
	}
}

// content is what a client of chunks reads from a stream.
func content(t *testing.T, frames []frame) (whole string, finish *string) {
	t.Helper()
	for _, f := range frames {
		whole += f.Choices[0].Delta.Content
		if reason := f.Choices[0].FinishReason; reason != nil {
			finish = reason
		}
	}
	return whole, finish
}

func TestAnAnswerInPartsIsInTheChunksOnce(t *testing.T) {
	f := &face{Config{Model: "m"}}
	parts := []frame{
		f.toFrame(run.Run{}, run.Event{Kind: run.AnswerDelta, Sequence: 1, Content: "One. "}),
		f.toFrame(run.Run{}, run.Event{Kind: run.AnswerDelta, Sequence: 2, Content: "Two."}),
	}
	for metadata, want := range map[string]string{
		`{"answer_deltas":2,"stop_reason":"stop"}`: "One. Two.", `{"answer_deltas":0}`: "One. Two.One. Two.", ``: "One. Two.One. Two.",
	} {
		end := f.toFrame(run.Run{}, run.Event{
			Kind: run.SessionEnd, Sequence: 3, Content: "One. Two.", Metadata: json.RawMessage(metadata),
		})
		if got, _ := content(t, append(parts, end)); got != want || end.Content != "One. Two." {
			t.Errorf("%s: chunks say %q, the event %q", metadata, got, end.Content)
		}
	}
}

func TestAChunkSaysWhyTheAnswerEnded(t *testing.T) {
	f := &face{Config{Model: "m"}}
	for reason, want := range map[string]string{
		"stop": "stop", "length": "length", "content_filter": "content_filter", "max_iterations": "stop", "empty_answer": "stop",
	} {
		event := run.Event{Kind: run.SessionEnd, Metadata: json.RawMessage(`{"stop_reason":"` + reason + `"}`)}
		_, streamed := content(t, []frame{f.toFrame(run.Run{}, event)})
		summed := f.toAnswer(run.Run{}, []run.Event{event}).Choices[0].FinishReason
		if *streamed != want || *summed != want {
			t.Errorf("%s: %s in a chunk, %s in a completion", reason, *streamed, *summed)
		}
	}
}

func TestOnlyAStreamOrABackgroundRunComesInParts(t *testing.T) {
	for _, c := range []struct {
		path, stream string
		want         bool
	}{
		{"/v1/chat/completions", "true", true}, {"/v1/chat/completions", "false", false}, {"/v1/runs", "false", true},
	} {
		b := newBook(func(_ context.Context, b *book, r run.Run) {
			b.add(r.Ref, run.Event{Kind: run.SessionEnd})
			b.finish(r.Ref, run.Completed, run.Outcome{})
		})
		server := open(t, b)
		call(t, server, "POST", c.path, question+`,"stream_deltas":true,"stream":`+c.stream+`}`)
		b.mu.Lock()
		if len(b.asked) != 1 || b.asked[0].StreamDeltas != c.want {
			t.Errorf("%s stream %s: %+v", c.path, c.stream, b.asked)
		}
		b.mu.Unlock()
	}
}
