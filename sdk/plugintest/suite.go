package plugintest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

// Driver carries one operation to a plugin and brings its answer back, both as JSON.
type Driver func(op sdk.Op, input []byte) ([]byte, error)

// Open starts a plugin whose files grant, if it has one, is the folder workspace. What it starts it stops with
// t.Cleanup.
type Open func(t *testing.T, workspace string) Driver

// Suite is what every build of one plugin must do.
type Suite struct {
	Name  string // the plugin's name
	Cases []Case
}

// Case is one fact about a plugin. Its name is a sentence.
type Case struct {
	Name string
	Run  func(t *testing.T, plugin *Plugin)
}

// Run judges one build of the plugin. Every case gets a plugin and an empty workspace of its own.
func (s Suite) Run(t *testing.T, open Open) {
	t.Helper()
	for _, fact := range s.Cases {
		t.Run(fact.Name, func(t *testing.T) {
			workspace := t.TempDir()
			fact.Run(t, &Plugin{drive: open(t, workspace), Workspace: workspace})
		})
	}
}

// Plugin is a plugin under test. Its methods fail the test when the plugin gives no well-formed answer.
type Plugin struct {
	Workspace string // the folder behind the files grant
	drive     Driver
}

// Call runs one tool with a JSON object of arguments.
func (p *Plugin) Call(t *testing.T, tool, args string) sdk.Result {
	t.Helper()
	var result sdk.Result
	p.ask(t, sdk.OpCall, sdk.Call{Tool: tool, Args: json.RawMessage(args)}, &result)
	return result
}

// Evaluate asks a policy for its opinion.
func (p *Plugin) Evaluate(t *testing.T, question sdk.Question) sdk.Opinion {
	t.Helper()
	var opinion sdk.Opinion
	p.ask(t, sdk.OpEvaluate, question, &opinion)
	return opinion
}

// Inject asks a scope plugin to bound arguments.
func (p *Plugin) Inject(t *testing.T, request sdk.InjectRequest) sdk.Injection {
	t.Helper()
	var injection sdk.Injection
	p.ask(t, sdk.OpInject, request, &injection)
	return injection
}

// Filter asks a scope plugin to filter a result.
func (p *Plugin) Filter(t *testing.T, request sdk.FilterRequest) sdk.Filtering {
	t.Helper()
	var filtering sdk.Filtering
	p.ask(t, sdk.OpFilter, request, &filtering)
	return filtering
}

// Review asks a guard for its verdict.
func (p *Plugin) Review(t *testing.T, request sdk.ReviewRequest) sdk.Review {
	t.Helper()
	var review sdk.Review
	p.ask(t, sdk.OpReview, request, &review)
	return review
}

func (p *Plugin) ask(t *testing.T, op sdk.Op, input, answer any) {
	t.Helper()
	var payload bytes.Buffer
	encoder := json.NewEncoder(&payload)
	encoder.SetEscapeHTML(false) // raw JSON inside the input stays as it was written
	if err := encoder.Encode(input); err != nil {
		t.Fatalf("encode input of op %d: %v", op, err)
	}
	output, err := p.drive(op, payload.Bytes())
	if err != nil {
		t.Fatalf("op %d failed: %v", op, err)
	}
	if err := json.Unmarshal(output, answer); err != nil {
		t.Fatalf("op %d answered %q: %v", op, output, err)
	}
}
