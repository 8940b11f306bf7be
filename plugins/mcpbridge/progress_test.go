package mcpbridge

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/fastreact/fastreact/sdk"
)

// hearing returns a context whose reports arrive in the channel.
func hearing() (context.Context, <-chan sdk.Progress) {
	reports := make(chan sdk.Progress, 100)
	return sdk.WithProgress(context.Background(), func(p sdk.Progress) { reports <- p }), reports
}

// tokenOf reads the progress token of a call.
func tokenOf(t *testing.T, sent message) string {
	t.Helper()
	var params struct {
		Meta struct {
			Token string `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(sent.Params, &params); err != nil || params.Meta.Token == "" {
		t.Fatalf("no token in %s", sent.Params)
	}
	return params.Meta.Token
}

func ptr(n float64) *float64 { return &n }

func TestProgressReachesItsOwnCallOnly(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	one, ofOne := hearing()
	two, ofTwo := hearing()
	first := invoke(one, b, "fake_work")
	sentOne := p.expect(t, "tools/call")
	second := invoke(two, b, "fake_work")
	sentTwo := p.expect(t, "tools/call")
	if tokenOf(t, sentOne) == tokenOf(t, sentTwo) {
		t.Error("two calls share a token")
	}
	p.write(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"`+tokenOf(t, sentTwo)+`","progress":3,"total":8,"message":"reading"}}`)
	p.write(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-7","progress":1}}`)
	p.write(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{"a":1},"progress":"much"}}`)
	p.replyText(t, sentOne, "")
	p.replyText(t, sentTwo, "")
	within(t, first)
	within(t, second)
	if diff := cmp.Diff(sdk.Progress{Text: "reading", Done: ptr(3), Total: ptr(8)}, within(t, ofTwo)); diff != "" {
		t.Error(diff)
	}
	if len(ofOne)+len(ofTwo) != 0 {
		t.Errorf("the other call heard %d reports, its own %d too many", len(ofOne), len(ofTwo))
	}
}

func TestProgressAfterTheAnswerIsDropped(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	ctx, reports := hearing()
	call := invoke(ctx, b, "fake_work")
	sent := p.expect(t, "tools/call")
	p.replyText(t, sent, "")
	within(t, call)
	p.write(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"`+tokenOf(t, sent)+`","progress":1}}`)
	p.write(t, `{"jsonrpc":"2.0","id":"after","method":"ping"}`)
	p.next(t)
	if len(reports) != 0 {
		t.Error("a call heard of progress after its end")
	}
}

func TestTextOfProgressIsCut(t *testing.T) {
	var got sdk.Progress
	var l listeners
	token, stop := l.listen(1, func(p sdk.Progress) { got = p })
	defer stop()
	l.tell(mcp.JSONRPCNotification{Notification: mcp.Notification{Params: mcp.NotificationParams{AdditionalFields: map[string]any{
		"progressToken": token, "message": strings.Repeat("x", maxProgressText) + "y",
	}}}})
	if len(got.Text) != maxProgressText {
		t.Errorf("%d bytes", len(got.Text))
	}
}

func TestCallThatNobodyListensToCarriesNoToken(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	call := invoke(context.Background(), b, "fake_work")
	sent := p.expect(t, "tools/call")
	if strings.Contains(string(sent.Params), "progressToken") {
		t.Errorf("sent %s", sent.Params)
	}
	p.replyText(t, sent, "")
	within(t, call)
}

// TestProgressOverHTTPIsReported has a tool that answers when its progress was heard: a server may drop what is sent
// right before an answer.
func TestProgressOverHTTPIsReported(t *testing.T) {
	s := mcpserver.NewMCPServer("real", "1")
	heard := make(chan struct{})
	s.AddTool(mcp.NewTool("long"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": 1, "message": "half"})
		select {
		case <-heard:
		case <-ctx.Done():
		}
		return mcp.NewToolResultText("done"), err
	})
	url, _ := serveHTTP(t, "127.0.0.1:0", mcpserver.NewStreamableHTTPServer(s))
	b := open(t, Config{Servers: []Server{httpSpec(url)}})
	ctx, reports := hearing()
	call := invoke(ctx, b, "web_long")
	if diff := cmp.Diff(sdk.Progress{Text: "half", Done: ptr(1)}, within(t, reports)); diff != "" {
		t.Error(diff)
	}
	close(heard)
	if got := within(t, call); got.err != nil || got.result.Content != "done" {
		t.Fatalf("got %+v", got)
	}
}
