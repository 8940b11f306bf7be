package mcpbridge

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/fastreact/fastreact/sdk"
)

// fillable is a question every field of which has a default.
const fillable = `{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"Ada"},"age":{"type":"integer","default":36},"score":{"type":"number","default":9.5},"level":{"type":"string","enum":["a","b"],"default":"b"},"member":{"type":"boolean","default":true},"tags":{"type":"array","default":["x"]}},"required":["name"]}}`

func TestQuestionsAreDeclinedUnlessConfigured(t *testing.T) {
	const declined, cancelled = `{"action":"decline"}`, `{"action":"cancel"}`
	for name, c := range map[string]struct{ mode, question, want string }{
		"by default":                    {elicitDecline, fillable, declined},
		"unset":                         {"", fillable, declined},
		"cancel":                        {elicitCancel, fillable, cancelled},
		"defaults of every type":        {elicitDefaults, fillable, `{"action":"accept","content":{"age":36,"level":"b","member":true,"name":"Ada","score":9.5,"tags":["x"]}}`},
		"a required field is left open": {elicitDefaults, `{"requestedSchema":{"properties":{"a":{"type":"string","default":"x"},"b":{"type":"string"}},"required":["b"]}}`, declined},
		"an optional field is left out": {elicitDefaults, `{"requestedSchema":{"properties":{"a":{"type":"string","default":"x"},"b":{"type":"string"}},"required":["a"]}}`, `{"action":"accept","content":{"a":"x"}}`},
		"are you sure":                  {elicitDefaults, `{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}`, declined},
		"no default at all":             {elicitDefaults, `{"requestedSchema":{"properties":{"a":{"type":"boolean"}}}}`, declined},
		"default of a wrong type":       {elicitDefaults, `{"requestedSchema":{"properties":{"a":{"type":"boolean","default":"yes"}}}}`, declined},
		"fraction for an integer":       {elicitDefaults, `{"requestedSchema":{"properties":{"a":{"type":"integer","default":1.5}}}}`, declined},
		"a web page":                    {elicitDefaults, `{"mode":"url","url":"http://127.0.0.1/pay","requestedSchema":{"properties":{"a":{"type":"boolean","default":true}}}}`, declined},
		"a web page, form":              {elicitDefaults, strings.Replace(fillable, `{`, `{"mode":"form",`, 1), `{"action":"accept","content":{"age":36,"level":"b","member":true,"name":"Ada","score":9.5,"tags":["x"]}}`},
		"no question":                   {elicitDefaults, `7`, declined},
		"an answer beyond every bound":  {elicitDefaults, `{"requestedSchema":{"properties":{"a":{"type":"string","default":"` + strings.Repeat("x", maxAnswerBytes) + `"}}}}`, declined},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(replies{c.mode}.elicit(json.RawMessage(c.question)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestServerLearnsThatItMayAskOnlyWhereThatHelps(t *testing.T) {
	for mode, want := range map[string]string{elicitDecline: `{}`, elicitCancel: `{"elicitation":{"form":{}}}`, elicitDefaults: `{"elicitation":{"form":{}}}`} {
		r := newRelay(t)
		spec := r.server("fake")
		spec.Elicitation = mode
		b := open(t, Config{Servers: []Server{spec}})
		listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
		p := r.accept(t)
		first := p.expect(t, "initialize")
		if !strings.Contains(string(first.Params), `"capabilities":`+want+`}`) {
			t.Errorf("%s: declared %s", mode, first.Params)
		}
		p.hangUp()
		within(t, listed)
	}
}

// answered reads what the bridge answered to the server's own request.
func (p *peer) answered(t *testing.T) string {
	t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	line, err := p.lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func TestQuestionDuringACallIsAnsweredAndTheCallGoesOn(t *testing.T) {
	b, _, p := meet(t, func(s *Server) { s.Elicitation = elicitDefaults }, tool("work"))
	call := invoke(context.Background(), b, "fake_work")
	sent := p.expect(t, "tools/call")
	// the server's request bears the very id of the call it interrupts
	p.write(t, `{"jsonrpc":"2.0","id":`+string(sent.ID)+`,"method":"elicitation/create","params":`+fillable+`}`)
	if got := p.answered(t); !strings.Contains(got, `"id":`+string(sent.ID)+`,`) || !strings.Contains(got, `"action":"accept"`) {
		t.Errorf("answered %s", got)
	}
	p.replyText(t, sent, "fine")
	if got := within(t, call); got.result.Content != "fine" {
		t.Errorf("got %+v", got)
	}
}

func TestSamplingIsRefused(t *testing.T) {
	_, _, p := meet(t, func(s *Server) { s.Elicitation = elicitDefaults }, tool("work"))
	p.write(t, `{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
	if got := p.answered(t); !strings.Contains(got, `-32601`) {
		t.Errorf("answered %s", got)
	}
}

// asking offers a tool that asks a person and says what it was answered.
func asking() *mcpserver.MCPServer {
	s := mcpserver.NewMCPServer("asking", "1", mcpserver.WithElicitation())
	s.AddTool(mcp.NewTool("ask"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := s.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
			Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","default":"Ada"}}}`),
		}})
		if err != nil {
			return nil, err
		}
		said, err := json.Marshal(answer)
		return mcp.NewToolResultText(string(said)), err
	})
	return s
}

func TestQuestionOverHTTPIsAnswered(t *testing.T) {
	for mode, want := range map[string]string{elicitDefaults: `{"action":"accept","content":{"name":"Ada"}}`, elicitCancel: `{"action":"cancel"}`} {
		url, _ := serveHTTP(t, "127.0.0.1:0", mcpserver.NewStreamableHTTPServer(asking()))
		spec := httpSpec(url)
		spec.Elicitation = mode
		b := open(t, Config{Servers: []Server{spec}})
		if diff := cmp.Diff(want, call(t, b, "web_ask", `{}`, sdk.Identity{}).Content); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
	}
}

// modernServer speaks protocol version 2026-07-28 by hand: it answers each tools/call with the next of the answers.
func modernServer(t *testing.T, calls chan<- string, answers ...string) string {
	t.Helper()
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var m message
		_ = json.Unmarshal(raw, &m)
		result := `{}`
		switch m.Method {
		case "initialize":
			http.Error(w, "gone", http.StatusBadRequest)
			return
		case "server/discover":
			result = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"public"}`
		case "tools/list":
			result = `{"tools":[` + tool("work") + `],"resultType":"complete"}`
		case "tools/call":
			calls <- string(raw)
			result, answers = answers[0], answers[1:]
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`)
	}))
	return url
}

func TestServerOfTheNewestProtocolIsAnsweredInRounds(t *testing.T) {
	calls := make(chan string, 10)
	url := modernServer(t, calls,
		`{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":`+fillable+`}},"requestState":"opaque"}`,
		`{"resultType":"complete","content":[{"type":"text","text":"done"}]}`)
	spec := httpSpec(url)
	spec.Elicitation = elicitDefaults
	b := open(t, Config{Servers: []Server{spec}})
	if got := call(t, b, "web_work", `{}`, sdk.Identity{}).Content; got != "done" {
		t.Errorf("got %q", got)
	}
	first, second := within(t, calls), within(t, calls)
	if !strings.Contains(first, `"elicitation":{"form":{}}`) || strings.Contains(first, "inputResponses") {
		t.Errorf("first call %s", first)
	}
	if !strings.Contains(second, `"inputResponses":{"q":{"action":"accept"`) || !strings.Contains(second, `"requestState":"opaque"`) {
		t.Errorf("second call %s", second)
	}
}

func TestServerThatAsksWithoutEndIsLeft(t *testing.T) {
	calls := make(chan string, 10)
	again := `{"resultType":"input_required","inputRequests":{},"requestState":"again"}`
	b := open(t, Config{Servers: []Server{httpSpec(modernServer(t, calls, again, again, again, again, again, again))}})
	failure := failureOf(t, within(t, invoke(context.Background(), b, "web_work")))
	if failure.Sentence != "MCP server web asks for interactive input, which is not supported." || failure.MayHaveRun || len(calls) != maxRounds {
		t.Errorf("got %+v after %d calls", failure, len(calls))
	}
}

func TestSamplingInTheNewestProtocolIsRefused(t *testing.T) {
	calls := make(chan string, 10)
	b := open(t, Config{Servers: []Server{httpSpec(modernServer(t, calls,
		`{"resultType":"input_required","inputRequests":{"q":{"method":"sampling/createMessage","params":{}}}}`))}})
	failure := failureOf(t, within(t, invoke(context.Background(), b, "web_work")))
	if failure.Sentence != "MCP server web asks for interactive input, which is not supported." || len(calls) != 1 {
		t.Errorf("got %+v after %d calls", failure, len(calls))
	}
}
