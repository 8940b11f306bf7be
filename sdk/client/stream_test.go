package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestChatReadsEventsUntilDone(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body["stream"] != true {
			t.Errorf("body %v: %v", body, err)
		}
		io.WriteString(w, ": keepalive\n\n"+sse(0, "session_start")+sse(1, "think")+sse(2, "session_end")+done)
	})
	if diff := cmp.Diff([]string{"session_start", "think", "session_end"}, types(t, c, Ask("hello"))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestBrokenStreamContinuesBehindTheLastEvent(t *testing.T) {
	var asked []string
	c := service(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Last-Event-ID"))
		switch len(asked) {
		case 1:
			io.WriteString(w, sse(0, "session_start")+sse(1, "think")+"id: 2\nevent: to")
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			io.WriteString(w, sse(1, "think")+sse(2, "tool_call"))
		default:
			io.WriteString(w, sse(3, "session_end")+done)
		}
	})
	got := types(t, c, Ask("hello"))
	if diff := cmp.Diff([]string{"session_start", "think", "tool_call", "session_end"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	want := []string{
		"POST /v1/chat/completions ", "GET /v1/runs/r/stream 1", "GET /v1/runs/r/stream 1", "GET /v1/runs/r/stream 2",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestStreamThatOnlyBreaksGivesUp(t *testing.T) {
	connections := 0
	c := service(t, func(w http.ResponseWriter, _ *http.Request) {
		connections++
		if connections == 1 {
			io.WriteString(w, sse(0, "session_start"))
		}
	})
	if err := lastError(c, Ask("hello")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want an unexpected end", err)
	}
	if connections != 3 {
		t.Errorf("%d connections, want 3", connections)
	}
}

func TestChatThatNeverStartedIsNotAskedTwice(t *testing.T) {
	connections := 0
	c := service(t, func(w http.ResponseWriter, _ *http.Request) { connections++ })
	if err := lastError(c, Ask("hello")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want an unexpected end", err)
	}
	if connections != 1 {
		t.Errorf("%d connections, want 1", connections)
	}
}

func TestEndWithoutDoneIsAnEndBehindTheTerminalEvent(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, sse(0, "session_end")) })
	if diff := cmp.Diff([]string{"session_end"}, types(t, c, Ask("hello"))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestFollowAsksForWhatComesBehind(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/runs/a/b/stream" || r.Header.Get("Last-Event-ID") != "4" {
			t.Errorf("asked %s behind %q", r.URL.Path, r.Header.Get("Last-Event-ID"))
		}
		io.WriteString(w, sse(5, "session_end")+done)
	})
	for event, err := range c.Follow(t.Context(), "a/b", 4) {
		if err != nil || event.Sequence != 5 {
			t.Errorf("event %d: %v", event.Sequence, err)
		}
	}
}

func TestOversizedEventIsAnError(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 300 {
			io.WriteString(w, "data: "+strings.Repeat("x", 4096)+"\n")
		}
	})
	if err := lastError(c, Ask("hello")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want %v", err, ErrTooLarge)
	}
}

func TestMalformedEventIsAnError(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "data: {\n\n") })
	if err := lastError(c, Ask("hello")); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %v, want %v", err, ErrMalformed)
	}
}

func TestEndOfContextEndsTheStream(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := service(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, sse(0, "session_start"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	var last error
	for event, err := range c.Chat(ctx, Ask("hello")) {
		if event.Type == "session_start" {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v, want %v", last, context.Canceled)
	}
}

func TestRefusedChatIsATypedError(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"detail":"The queue is full.","error":{"code":"saturated","message":"The queue is full."}}`)
	})
	var refused *Error
	if err := lastError(c, Ask("hello")); !errors.As(err, &refused) {
		t.Fatalf("got %v", err)
	}
	want := &Error{Status: 503, Code: "saturated", Message: "The queue is full.", RetryAfter: 7 * time.Second}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzFrames shows that no stream crashes the reader or makes it hold more than it may.
func FuzzFrames(f *testing.F) {
	f.Add(sse(0, "think") + done)
	f.Add("data\n\n:x\r\n\r\ndata: a\ndata: b\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		reader := newFrames(strings.NewReader(text), 64)
		for {
			one, err := reader.next()
			if err != nil {
				return
			}
			if len(one.data) > 64 {
				t.Fatalf("a frame of %d bytes", len(one.data))
			}
		}
	})
}

const done = "event: done\ndata: [DONE]\n\n"

func sse(sequence int, kind string) string {
	return fmt.Sprintf("id: %d\nevent: %s\ndata: {\"type\":%q,\"sequence\":%d,\"run_id\":\"r\"}\n\n",
		sequence, kind, kind, sequence)
}

// service serves every request with answer and returns a client of it.
func service(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c, err := New(Config{URL: server.URL + "/", Token: "t", MaxEventBytes: 1 << 20, Attempts: 3, Pause: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func types(t *testing.T, c *Client, request Request) []string {
	t.Helper()
	var kinds []string
	for event, err := range c.Chat(t.Context(), request) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, event.Type)
	}
	return kinds
}

func lastError(c *Client, request Request) error {
	var last error
	for _, err := range c.Chat(context.Background(), request) {
		last = err
	}
	return last
}
