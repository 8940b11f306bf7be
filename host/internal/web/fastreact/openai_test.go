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
