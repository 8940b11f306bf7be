package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// DemoName is the name the demo model gives itself.
const DemoName = "fastreact-demo"

// Demo is the model of a service that has none configured. It follows a fixed script and knows nothing: a line
// "/call TOOL {json}" asks for that tool, several lines ask for all of them at once; a diagnosis looks into logs and
// firing alerts; any other question is looked up once when a search tool is visible; then it answers from what came
// back, with a report where that was evidence. The same question gets the same answer.
type Demo struct{}

// NewDemo returns the demo model.
func NewDemo() Demo { return Demo{} }

// Complete takes the next step of the script.
func (d Demo) Complete(ctx context.Context, request Request, onText func(string)) (Reply, error) {
	if ctx.Err() != nil {
		return Reply{}, fmt.Errorf("complete: %w", context.Cause(ctx))
	}
	question, results := lastTurn(request.Messages)
	reply := Reply{Model: DemoName}
	evidence := evidenceIn(results)
	switch calls := wanted(question, request.Tools); {
	case sorts(request.Messages):
		reply.Text = "GENERAL"
	case len(evidence) > 0:
		reply.Text = reportOn(evidence)
	case len(results) > 0:
		reply.Text = answerFrom(results)
	case len(calls) > 0:
		reply.ToolCalls = calls
	default:
		reply.Text = "I am a scripted demo model without knowledge of my own. You asked: " + question
	}
	reply.Usage = countWords(request.Messages, reply)
	return reply.spoken(request, onText), nil
}

// lastTurn returns the last user message and the tool results since.
func lastTurn(messages []run.Message) (question string, results []string) {
	for _, message := range messages {
		switch message.Role {
		case run.User:
			question, results = message.Content, nil
		case run.ToolRole:
			results = append(results, message.Content)
		}
	}
	return strings.TrimSpace(question), results
}

// wanted are the calls a question leads to.
func wanted(question string, tools []Tool) []run.ToolCall {
	var calls []run.ToolCall
	for line := range strings.Lines(question) {
		rest, asked := strings.CutPrefix(strings.TrimSpace(line), "/call ")
		if !asked {
			continue
		}
		name, arguments, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if arguments = strings.TrimSpace(arguments); arguments == "" {
			arguments = "{}"
		}
		calls = append(calls, run.ToolCall{Name: name, Arguments: arguments})
	}
	if len(calls) == 0 {
		calls = gathering(tools)
	}
	if len(calls) > 0 {
		return calls
	}
	if name := searchTool(tools); name != "" && question != "" {
		arguments, err := json.Marshal(map[string]any{"query": question, "top_k": 5})
		if err == nil {
			calls = append(calls, run.ToolCall{Name: name, Arguments: string(arguments)})
		}
	}
	return calls
}

// sorts reports whether the model is asked where a question belongs. It calls everything general that no rule knows.
func sorts(messages []run.Message) bool {
	return len(messages) > 0 && messages[0].Role == run.System && strings.Contains(messages[0].Content, "DIAGNOSIS or GENERAL")
}

// searchTool prefers the knowledge system's plain search to other tools that search.
func searchTool(tools []Tool) string {
	found := ""
	for _, tool := range tools {
		if strings.HasSuffix(tool.Name, "pska_search") {
			return tool.Name
		}
		if found == "" && strings.Contains(tool.Name, "search") {
			found = tool.Name
		}
	}
	return found
}

func countWords(messages []run.Message, reply Reply) *run.Usage {
	var usage run.Usage
	for _, message := range messages {
		usage.PromptTokens += len(strings.Fields(message.Content))
	}
	usage.CompletionTokens = len(strings.Fields(reply.Text))
	for _, call := range reply.ToolCalls {
		usage.CompletionTokens += 1 + len(strings.Fields(call.Arguments))
	}
	usage.TotalTokens = usage.PromptTokens + usage.CompletionTokens
	return &usage
}
