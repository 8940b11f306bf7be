package fastreact

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// event returns the JSON of a wire event of run-1, from sequence to timestamp given whole.
func event(sequence int, kind, parent, rest string) string {
	at := dawn.Add(time.Duration(sequence) * 1500 * time.Microsecond).Format("2006-01-02T15:04:05.000000+00:00")
	return fmt.Sprintf(`{"schema":"fastreact.agent_event.v1","type":"%s","event_id":"run-1:%d","sequence":%d,`+
		`"parent_event_id":%s,"run_id":"run-1","session_id":"s-1","timestamp":"%s",%s`,
		kind, sequence, sequence, parent, at, rest)
}

const chunk = `,"id":"chatcmpl-run-1","object":"chat.completion.chunk","created":1781136000,"model":"demo-model",`

// searchedStream is what every reader of the run that searched plays must see, byte for byte.
func searchedStream() []string {
	none := `"choices":[{"index":0,"delta":{},"finish_reason":null}]}`
	tool := `"tool_name":"pska_pska_search","tool_args":{"query":"Question","top_k":5.0},"tool_call_id":"call-1",`
	frames := []string{
		event(0, "session_start", "null", `"content":"Question","tool_name":null,"tool_args":null,"tool_call_id":null,`+
			`"duration_ms":null,"cited_source_ids":[],"approval_request_id":null,"metadata":{"skills":null}`) + chunk +
			`"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}`,
		event(1, "tool_call", `"run-1:0"`, `"content":"",`+tool+
			`"duration_ms":null,"cited_source_ids":[],"approval_request_id":null,"metadata":{}`) + chunk + none,
		event(2, "tool_result", `"run-1:1"`, `"content":"found\u0085it",`+tool+
			`"duration_ms":12.34,"cited_source_ids":["src-1"],"approval_request_id":null,"metadata":{}`) + chunk + none,
		event(3, "session_end", `"run-1:2"`, `"content":"[The] answer","tool_name":null,"tool_args":null,`+
			`"tool_call_id":null,"duration_ms":null,"cited_source_ids":[],"approval_request_id":null,`+
			`"metadata":{"llm_usage_total":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`) + chunk +
			`"choices":[{"index":0,"delta":{"content":"[The] answer"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`,
	}
	for i, kind := range []string{"session_start", "tool_call", "tool_result", "session_end"} {
		frames[i] = fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", i, kind, frames[i])
	}
	return append(frames, "event: done\ndata: [DONE]\n\n")
}

func TestAStreamIsTheseBytes(t *testing.T) {
	server := open(t, newBook(searched))
	response, body := call(t, server, "POST", "/v1/chat/completions", question+`,"stream":true}`)
	if diff := cmp.Diff(strings.Join(searchedStream(), ""), body); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
		"X-FastReAct-Run-ID": "run-1", "X-FastReAct-Session-ID": "s-1",
		"X-FastReAct-Event-Schema": "fastreact.agent_event.v1",
	} {
		if diff := cmp.Diff(want, response.Header.Get(key)); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}

func TestAReplayIsTheSameBytesFromWhereverTheReaderWas(t *testing.T) {
	server := open(t, newBook(searched))
	call(t, server, "POST", "/v1/chat/completions", question+"}")
	for _, c := range []struct {
		path, lastID string
		from         int
	}{
		{"/v1/runs/run-1/stream", "", 0},
		{"/v1/runs/run-1/stream?after_sequence=-1", "", 0},
		{"/v1/runs/run-1/stream?after_sequence=1", "", 2},
		{"/v1/runs/run-1/stream", "2", 3},
		{"/v1/runs/run-1/stream?after_sequence=0", "2", 1},
		{"/v1/runs/run-1/stream", "3", 4},
		{"/v1/runs/run-1/stream?after_sequence=99", "", 4},
	} {
		_, body := call(t, server, "GET", c.path, "", "Last-Event-ID", c.lastID)
		if diff := cmp.Diff(strings.Join(searchedStream()[c.from:], ""), body); diff != "" {
			t.Errorf("%s after %q: %s", c.path, c.lastID, diff)
		}
	}
}

func TestASecondReaderJoinsARunThatIsUnderWay(t *testing.T) {
	joined := make(chan struct{})
	server := open(t, newBook(func(_ context.Context, b *book, r run.Run) {
		b.add(r.Ref, run.Event{Kind: run.SessionStart, Content: "Question"})
		<-joined
		b.add(r.Ref, run.Event{Kind: run.SessionEnd, Content: "late"})
		b.finish(r.Ref, run.Completed, run.Outcome{})
	}))
	first := make(chan string)
	go func() {
		_, body := call(t, server, "POST", "/v1/chat/completions", question+`,"stream":true}`)
		first <- body
	}()
	second := join(t, server)
	reader := bufio.NewReader(second.Body)
	line, err := reader.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	close(joined)
	rest, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(<-first, line+string(rest)); diff != "" {
		t.Error(diff)
	}
}

// join opens the stream of run-1 as soon as there is one.
func join(t *testing.T, server *httptest.Server) *http.Response {
	t.Helper()
	for {
		response, err := http.Get(server.URL + "/v1/runs/run-1/stream")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		if response.StatusCode == http.StatusOK {
			return response
		}
	}
}

func TestAFatalErrorIsMarkedForClientLibraries(t *testing.T) {
	server := open(t, newBook(func(_ context.Context, b *book, r run.Run) {
		b.add(r.Ref, run.Event{Kind: run.Errored, Content: "The model is not available.", Metadata: json.RawMessage(
			`{"error_type":"ModelError","code":"model_unavailable"}`)})
		b.finish(r.Ref, run.Failed, run.Outcome{Error: "The model is not available."})
	}))
	_, body := call(t, server, "POST", "/v1/chat/completions", question+`,"stream":true}`)
	frames := strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
	if len(frames) != 2 || !strings.HasPrefix(frames[0], "id: 0\nevent: error\n") ||
		!strings.HasSuffix(frames[0], `,"error":{"message":"The model is not available.","type":"ModelError","code":"model_unavailable"}}`) ||
		frames[1] != "event: done\ndata: [DONE]" {
		t.Error(body)
	}
}

func TestOnlyAFailureCarriesAnErrorKey(t *testing.T) {
	f := &face{Config{Model: "m"}}
	for _, kind := range run.EventKinds() {
		encoded, err := web.Encode(f.toFrame(run.Run{}, run.Event{Kind: kind, Content: "text"}))
		if err != nil {
			t.Fatal(err)
		}
		wire := object(t, string(encoded))
		if wire["type"] != string(kind) {
			t.Errorf("%s became %v", kind, wire["type"])
		}
		if _, failed := wire["error"]; failed != (kind == run.Errored) {
			t.Errorf("%s: error key %v", kind, failed)
		}
		if answered := strings.Contains(string(encoded), `"delta":{"role":"assistant","content":"text"}`); answered !=
			(kind == run.SessionEnd || kind == run.AnswerDelta) {
			t.Errorf("%s: answer in the delta %v", kind, answered)
		}
	}
}

func TestLeavingEndsTheConnectionOfAChat(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		ctx, leave := context.WithCancel(context.Background())
		left := make(chan struct{})
		server := open(t, newBook(func(connection context.Context, b *book, r run.Run) {
			b.add(r.Ref, run.Event{Kind: run.SessionStart})
			leave()
			<-connection.Done()
			close(left)
		}))
		body := strings.NewReader(question + `,"stream":` + stream + "}")
		request, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/v1/chat/completions", body)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		if response, err := http.DefaultClient.Do(request); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		<-left
	}
}

func TestASlowReaderIsDroppedAndTheRunGoesOn(t *testing.T) {
	ended := make(chan error, 1)
	b := newBook(func(connection context.Context, b *book, r run.Run) {
		for range 64 {
			b.add(r.Ref, run.Event{Kind: run.Think, Content: strings.Repeat("x", 1<<20)})
		}
		<-b.left
		ended <- connection.Err()
		b.add(r.Ref, run.Event{Kind: run.SessionEnd, Content: "done"})
		b.finish(r.Ref, run.Completed, run.Outcome{})
	})
	server := open(t, b, func(_ *Config, door *web.Config) { door.WriteTimeout = 50 * time.Millisecond })
	host := strings.TrimPrefix(server.URL, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := question + `,"stream":true}`
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", host, len(body), body)
	if err := <-ended; err != nil {
		t.Errorf("the run was told that its connection ended: %v", err)
	}
	_, tailed := call(t, server, "GET", "/v1/runs/run-1/stream?after_sequence=63", "")
	if !strings.HasSuffix(tailed, "event: done\ndata: [DONE]\n\n") {
		t.Error("the run cannot be resumed")
	}
}

func TestSilenceIsBrokenByKeepalives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook(func(_ context.Context, b *book, r run.Run) {
			<-time.After(40 * time.Second)
			b.add(r.Ref, run.Event{Kind: run.Think})
			<-time.After(20 * time.Second)
			b.add(r.Ref, run.Event{Kind: run.SessionEnd})
			b.finish(r.Ref, run.Completed, run.Outcome{})
		})
		h := handler(t, b, func(_ *Config, door *web.Config) { door.Authorities = []string{"example.com"} })
		request := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(question+`,"stream":true}`))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		var shape []string
		for _, part := range strings.Split(strings.TrimSuffix(recorder.Body.String(), "\n\n"), "\n\n") {
			shape = append(shape, strings.Split(strings.TrimPrefix(part, "id: "), "\ndata")[0])
		}
		keep := ": keepalive"
		want := []string{keep, keep, "0\nevent: think", keep, "1\nevent: session_end", "event: done"}
		if diff := cmp.Diff(want, shape); diff != "" {
			t.Error(diff)
		}
	})
}

// stopped serves a face over b that stops when the returned channel is closed.
func stopped(t *testing.T, b *book) (*httptest.Server, chan struct{}) {
	t.Helper()
	stopping := make(chan struct{})
	return open(t, b, func(cfg *Config, _ *web.Config) { cfg.Closing = stopping }), stopping
}

func TestAStreamOfAServiceThatStopsHasNoEndAndGoesOnElsewhere(t *testing.T) {
	for name, ask := range map[string][3]string{
		"reader": {"GET", "/v1/runs/run-1/stream", ""},
		"chat":   {"POST", "/v1/chat/completions", question + `,"stream":true}`},
	} {
		begun := make(chan run.Ref, 1)
		b := newBook(func(_ context.Context, b *book, r run.Run) {
			b.add(r.Ref, run.Event{Kind: run.SessionStart, Content: "Question"})
			begun <- r.Ref
		})
		server, stopping := stopped(t, b)
		if name == "reader" {
			if _, err := b.Chat(t.Context(), run.Request{ID: "run-1", SessionID: "s-1"}); err != nil {
				t.Fatal(err)
			}
		}
		heard := make(chan string)
		go func() {
			_, body := call(t, server, ask[0], ask[1], ask[2])
			heard <- body
		}()
		ref := <-begun
		b.await()
		close(stopping)
		half := <-heard
		if !strings.HasPrefix(half, "id: 0\nevent: session_start\n") || strings.Contains(half, "[DONE]") {
			t.Errorf("%s: %q", name, half)
		}
		b.add(ref, run.Event{Kind: run.SessionEnd, Content: "late"})
		b.finish(ref, run.Completed, run.Outcome{})
		other := open(t, b)
		_, rest := call(t, other, "GET", "/v1/runs/run-1/stream", "", "Last-Event-ID", "0")
		_, whole := call(t, other, "GET", "/v1/runs/run-1/stream", "")
		if diff := cmp.Diff(whole, half+rest); diff != "" || !strings.HasSuffix(rest, "event: done\ndata: [DONE]\n\n") {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAStreamWhoseRunEndsWithTheServiceIsWhole(t *testing.T) {
	server, stopping := stopped(t, newBook(searched))
	call(t, server, "POST", "/v1/chat/completions", question+"}")
	close(stopping)
	_, body := call(t, server, "GET", "/v1/runs/run-1/stream", "")
	if diff := cmp.Diff(strings.Join(searchedStream(), ""), body); diff != "" {
		t.Error(diff)
	}
}

func TestAnAnswerThatAServiceCannotWaitForIsNotMadeUp(t *testing.T) {
	begun := make(chan struct{})
	b := newBook(func(_ context.Context, b *book, r run.Run) {
		b.add(r.Ref, run.Event{Kind: run.SessionStart})
		close(begun)
	})
	server, stopping := stopped(t, b)
	go func() {
		<-begun
		close(stopping)
	}()
	response, body := call(t, server, "POST", "/v1/chat/completions", question+"}")
	status, got := code(t, response, body)
	if status != 503 || got != "not_ready" || response.Header.Get("X-FastReAct-Run-ID") != "run-1" ||
		response.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s %v", status, got, response.Header)
	}
}

func TestAStoreThatIsAwayForAWhileEndsNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := &run.Error{Code: run.CodeStore, Sentence: "The store is away."}
		var ended error
		b := newBook(func(connection context.Context, b *book, r run.Run) {
			b.add(r.Ref, run.Event{Kind: run.SessionStart})
			synctest.Wait()
			b.breakDown(away)
			<-time.After(30 * time.Second)
			ended = connection.Err()
			b.breakDown(nil)
			b.add(r.Ref, run.Event{Kind: run.SessionEnd})
			b.finish(r.Ref, run.Completed, run.Outcome{})
		})
		h := handler(t, b, func(_ *Config, door *web.Config) { door.Authorities = []string{"example.com"} })
		request := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(question+`,"stream":true}`))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		if ended != nil || !strings.HasSuffix(recorder.Body.String(), "event: done\ndata: [DONE]\n\n") {
			t.Errorf("%v %s", ended, recorder.Body)
		}
	})
}

// A run that another node took over is told by no notice: only the log has it.
func TestAStreamGoesOnFromTheLogWhenAnotherNodeDrivesTheRun(t *testing.T) {
	b := newBook(func(_ context.Context, b *book, r run.Run) {
		b.add(r.Ref, run.Event{Kind: run.SessionStart})
		b.await()
		b.silently(func() {
			b.add(r.Ref, run.Event{Kind: run.Think}, run.Event{Kind: run.SessionEnd})
			b.finish(r.Ref, run.Completed, run.Outcome{})
		})
	})
	server := open(t, b)
	_, live := call(t, server, "POST", "/v1/chat/completions", question+`,"stream":true}`)
	_, late := call(t, server, "GET", "/v1/runs/run-1/stream", "")
	if diff := cmp.Diff(late, live); diff != "" {
		t.Error(diff)
	}
}

func TestABrokenCursorIsRefused(t *testing.T) {
	server := open(t, newBook(searched))
	call(t, server, "POST", "/v1/chat/completions", question+"}")
	for _, c := range []struct {
		query, lastID string
		want          int
	}{
		{"?after_sequence=x", "", 422}, {"?after_sequence=-2", "", 400}, {"", "x", 400}, {"", "-2", 400},
	} {
		response, body := call(t, server, "GET", "/v1/runs/run-1/stream"+c.query, "", "Last-Event-ID", c.lastID)
		if status, _ := code(t, response, body); status != c.want {
			t.Errorf("%q %q: %d, want %d", c.query, c.lastID, status, c.want)
		}
	}
}
