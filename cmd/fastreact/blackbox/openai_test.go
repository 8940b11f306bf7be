package blackbox

import (
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const scriptedAnswer = "Alpha says so [src_a]."

func openaiClient(s *service) openai.Client {
	return openai.NewClient(option.WithBaseURL(s.url+"/v1"), option.WithAPIKey("unused"), option.WithMaxRetries(0))
}

func openaiQuestion() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "scripted",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Question")},
	}
}

func TestOpenAIClientReadsTheWholeAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	client := openaiClient(s)
	answer, err := client.Chat.Completions.New(t.Context(), openaiQuestion())
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Choices) != 1 || answer.Choices[0].Message.Content != scriptedAnswer {
		t.Errorf("choices %+v", answer.Choices)
	}
	if answer.Choices[0].FinishReason != "stop" || answer.Usage.TotalTokens != 30 {
		t.Errorf("finish_reason %q, usage %+v", answer.Choices[0].FinishReason, answer.Usage)
	}
}

func TestOpenAIClientReadsTheStreamOnce(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	client := openaiClient(s)
	stream := client.Chat.Completions.NewStreaming(t.Context(), openaiQuestion())
	whole := openai.ChatCompletionAccumulator{}
	text := ""
	for stream.Next() {
		chunk := stream.Current()
		whole.AddChunk(chunk)
		for _, choice := range chunk.Choices {
			text += choice.Delta.Content
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if text != scriptedAnswer || whole.Choices[0].Message.Content != scriptedAnswer {
		t.Errorf("text %q, accumulated %q", text, whole.Choices[0].Message.Content)
	}
	if whole.Choices[0].FinishReason != "stop" || whole.Usage.TotalTokens != 30 {
		t.Errorf("finish_reason %q, usage %+v", whole.Choices[0].FinishReason, whole.Usage)
	}
}

func TestOpenAIClientReadsWhatWentWrong(t *testing.T) {
	t.Parallel()
	s := startWithoutModel(t)
	client := openai.NewClient(option.WithBaseURL(s.url+"/v1"), option.WithAPIKey(clientToken), option.WithMaxRetries(0))
	stream := client.Chat.Completions.NewStreaming(t.Context(), openaiQuestion())
	for stream.Next() {
	}
	if err := stream.Err(); err == nil || !strings.Contains(err.Error(), modelIsDown) || strings.Contains(err.Error(), vendorDetail) {
		t.Errorf("a stream without a model: %v", err)
	}
	question := openaiQuestion()
	question.Temperature = openai.Float(9)
	var refused *openai.Error
	if _, err := client.Chat.Completions.New(t.Context(), question); !errors.As(err, &refused) || refused.StatusCode != 422 || refused.Code != "invalid_request" {
		t.Errorf("an invalid request: %v", err)
	}
	stranger := openai.NewClient(option.WithBaseURL(s.url+"/v1"), option.WithAPIKey("wrong"), option.WithMaxRetries(0))
	if _, err := stranger.Models.List(t.Context()); !errors.As(err, &refused) || refused.StatusCode != 401 {
		t.Errorf("a wrong key: %v", err)
	}
}
