package mcpbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// lyingHTTP answers the handshake like any server, and a call as its argument "lie" says. answered gets what the
// bridge answers to the server's own requests.
func lyingHTTP(t *testing.T, lies map[string]func(w http.ResponseWriter, id string), answered chan<- string) string {
	t.Helper()
	url, _ := serveHTTP(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		text := body(r)
		_ = json.Unmarshal([]byte(text), &m)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.ID == nil || m.Method == "":
			if m.Method == "" {
				answered <- text
			}
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "initialize":
			asJSON(w, string(m.ID), initialized)
		case m.Method == "tools/list":
			asJSON(w, string(m.ID), `{"tools":[`+tool("work")+`]}`)
		case m.Method == "tools/call":
			var params struct{ Arguments struct{ Lie string } }
			_ = json.Unmarshal(m.Params, &params)
			lies[params.Arguments.Lie](w, string(m.ID))
		default:
			asJSON(w, string(m.ID), `{}`)
		}
	}))
	return url
}

func asJSON(w http.ResponseWriter, id, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func asEvents(w http.ResponseWriter, messages ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, m := range messages {
		_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", m)
		w.(http.Flusher).Flush()
	}
}

func says(id, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}

func TestLyingHTTPServerIsSurvived(t *testing.T) {
	type writer = http.ResponseWriter
	answered := make(chan string, 100)
	progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}`
	lies := map[string]func(w writer, id string){
		"truth":            func(w writer, id string) { asJSON(w, id, `{"content":"fine"}`) },
		"as events":        func(w writer, id string) { asEvents(w, says(id, "fine")) },
		"something behind": func(w writer, id string) { asJSON(w, id, `{"content":"fine"}`); _, _ = io.WriteString(w, "]") },
		"array": func(w writer, id string) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "["+says(id, "x")+"]")
		},
		"no type": func(w writer, id string) { w.Header().Set("Content-Type", ""); _, _ = io.WriteString(w, says(id, "x")) },
		"page": func(w writer, _ string) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
		},
		"empty":       func(w writer, _ string) { w.Header().Set("Content-Type", "application/json") },
		"null":        func(w writer, id string) { asJSON(w, id, `null`) },
		"cut":         func(w writer, id string) { w.Header().Set("Content-Length", "999"); asJSON(w, id, `{"content"`) },
		"cut events":  func(w writer, _ string) { asEvents(w, progress) },
		"noise first": func(w writer, id string) { asEvents(w, "{", "[]", "7", progress, says(id, "fine")) },
		"same id asks": func(w writer, id string) {
			asEvents(w, `{"jsonrpc":"2.0","id":`+id+`,"method":"sampling/createMessage","params":{}}`)
			if refusal := <-answered; !strings.Contains(refusal, "-32601") {
				t.Errorf("answered %s", refusal)
			}
			asEvents(w, says(id, "fine"))
		},
		"status 500":   func(w writer, _ string) { http.Error(w, "canary", http.StatusInternalServerError) },
		"status 202":   func(w writer, _ string) { w.WriteHeader(http.StatusAccepted) },
		"endless line": func(w writer, _ string) { asEvents(w, strings.Repeat("x", 2<<20)) },
		"flood": func(w writer, id string) {
			for range 2000 {
				asEvents(w, progress)
			}
			asEvents(w, says(id, "fine"))
		},
		"many answers": func(w writer, id string) {
			for range 10 {
				asEvents(w, says(id, "fine"))
			}
		},
	}
	b := open(t, Config{Servers: []Server{httpSpec(lyingHTTP(t, lies, answered))}, MaxResultBytes: 1 << 20})
	ask := func(lie string) outcome {
		return within(t, async(func() outcome {
			result, err := b.Invoke(context.Background(), "web_work", sdk.Call{Args: json.RawMessage(`{"lie":"` + lie + `"}`)})
			return outcome{result, err}
		}))
	}
	fine := map[string]bool{"truth": true, "as events": true, "noise first": true, "same id asks": true, "flood": true, "many answers": true, "something behind": true}
	for lie := range lies {
		got := ask(lie)
		if fine[lie] != (got.err == nil && got.result.Content == "fine") {
			t.Errorf("%s: %.200v %v", lie, got.result, got.err)
		}
		if got.err != nil && (strings.Contains(got.err.Error(), "canary") || !failureOf(t, got).MayHaveRun) {
			t.Errorf("%s: %+v", lie, got.err)
		}
		if after := ask("truth"); after.err != nil {
			t.Errorf("after %s: %v", lie, after.err)
		}
	}
}

func TestNoGoroutineStaysBehindAServerThatAnswersTooMuch(t *testing.T) {
	lies := map[string]func(http.ResponseWriter, string){"": func(w http.ResponseWriter, id string) {
		for range 10 {
			asEvents(w, says(id, "fine"))
		}
	}}
	b := open(t, Config{Servers: []Server{httpSpec(lyingHTTP(t, lies, make(chan string, 1)))}})
	b.Tools(context.Background())
	before := runtime.NumGoroutine()
	for range 50 {
		within(t, invoke(context.Background(), b, "web_work"))
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		if runtime.NumGoroutine() < before+25 {
			return
		}
		<-tick.C
	}
	t.Errorf("%d goroutines became %d", before, runtime.NumGoroutine())
}

func TestEveryOlderProtocolVersionIsSpoken(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		r := newRelay(t)
		b := open(t, Config{Servers: []Server{r.server("fake")}})
		listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
		p := r.accept(t)
		p.reply(t, p.expect(t, "initialize"), strings.Replace(initialized, "2025-06-18", version, 1))
		p.expect(t, "notifications/initialized")
		p.list(t, tool("work"))
		if tools := within(t, listed); len(tools) != 1 {
			t.Errorf("%s: %v", version, names(tools))
		}
	}
}
