package loopback_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/localagent/loopback"
)

// words are a short conversation.
var words = []localagent.Message{
	{Role: localagent.System, Content: "You <work>."}, {Role: localagent.User, Content: `{"objective":"Who?"}`},
}

// asking serves one fake endpoint and returns a client of it.
func asking(t *testing.T, cfg loopback.Config, answer http.HandlerFunc) *loopback.Client {
	t.Helper()
	endpoint := httptest.NewServer(whole(answer))
	t.Cleanup(endpoint.Close)
	cfg.Endpoint, cfg.Model = endpoint.URL, "small"
	client, err := loopback.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// whole answers when the question was read to its end: who answers and closes before may cut off who still writes.
func whole(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the other side has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer(w, r)
	}
}

// says answers with a content type and a body.
func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// untilGone waits until whoever asked has gone.
func untilGone(r *http.Request) { <-r.Context().Done() }

func choices(contents ...string) string {
	var all []string
	for i, content := range contents {
		all = append(all, fmt.Sprintf(`{"index":%d,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}`, i, content))
	}
	return `{"id":"x","choices":[` + strings.Join(all, ",") + `],"usage":{"total_tokens":1}}`
}

func TestTheModelIsAskedInItsWordsAndAnswers(t *testing.T) {
	var sent, path string
	var header http.Header
	client := asking(t, loopback.Config{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent, path, header = string(body), r.Method+" "+r.RequestURI, r.Header
		w.Header().Set("Set-Cookie", "a=b")
		says("application/json; charset=utf-8", choices("An answer."))(w, r)
	})
	for range 2 {
		if got, err := client.Complete(t.Context(), words); err != nil || got != "An answer." {
			t.Fatalf("%q %v", got, err)
		}
	}
	want := `{"model":"small","messages":[{"role":"system","content":"You <work>."},` +
		`{"role":"user","content":"{\"objective\":\"Who?\"}"}],"temperature":0,"stream":false}`
	if diff := cmp.Diff(want, sent); diff != "" || path != "POST /v1/chat/completions" {
		t.Error(path, diff)
	}
	if header.Get("Content-Type") != "application/json" || header.Get("Cookie") != "" || header.Get("Accept-Encoding") != "" {
		t.Error(header)
	}
}

func TestAnAnswerInPiecesIsJoined(t *testing.T) {
	const stream = ": hello\r\n\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\r\n\r\n" +
		"data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"An \"}}]}\n\n" +
		"event: x\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"answer.\"}}]}\n\n" +
		"data: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n"
	client := asking(t, loopback.Config{}, func(w http.ResponseWriter, r *http.Request) {
		says("text/event-stream", stream)(w, r)
		_ = http.NewResponseController(w).Flush()
		untilGone(r) // the end mark ends the answer, not the connection
	})
	if got, err := client.Complete(t.Context(), words); err != nil || got != "An answer." {
		t.Errorf("%q %v", got, err)
	}
}

func TestAnAnswerThatIsNotOneTextIsRefused(t *testing.T) {
	const piece = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n"
	for name, c := range map[string]struct{ contentType, body string }{
		"two choices":              {"application/json", choices("one", "two")},
		"no choice":                {"application/json", choices()},
		"no text":                  {"application/json", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1"}]}}]}`},
		"no message":               {"application/json", `{"choices":[{}]}`},
		"a text of another type":   {"application/json", `{"choices":[{"message":{"content":[{"text":"x"}]}}]}`},
		"another content type":     {"text/html", choices("An answer.")},
		"no content type":          {"", choices("An answer.")},
		"two values":               {"application/json", choices("one") + choices("two")},
		"a cut value":              {"application/json", choices("one")[:30]},
		"no UTF-8":                 {"application/json", "{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}"},
		"a stream without an end":  {"text/event-stream", piece},
		"a stream of nothing":      {"text/event-stream", "data: [DONE]\n\n"},
		"a stream of two choices":  {"text/event-stream", piece + "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"y\"}}]}\n\ndata: [DONE]\n\n"},
		"a stream of other things": {"text/event-stream", "data: hello\n\n" + piece + "data: [DONE]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := asking(t, loopback.Config{}, says(c.contentType, c.body)).Complete(t.Context(), words)
			if !errors.Is(err, localagent.ErrProtocol) || got != "" {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}

func TestAnAnswerOf256KiBIsReadAndALongerOneIsNot(t *testing.T) {
	const most = 256 << 10
	around := len(choices(""))
	for _, c := range []struct {
		name, contentType, body string
		fits                    bool
	}{
		{"exactly", "application/json", choices(strings.Repeat("x", most-around)), true},
		{"one more", "application/json", choices(strings.Repeat("x", most-around+1)), false},
		{"257 KiB", "application/json", choices(strings.Repeat("x", 257<<10)), false},
		{"a stream of one line", "text/event-stream", "data: " + strings.Repeat("x", 257<<10), false},
		{"a stream of many lines", "text/event-stream", strings.Repeat(": x\n", 65<<10), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := asking(t, loopback.Config{}, says(c.contentType, c.body)).Complete(t.Context(), words)
			if c.fits && (err != nil || len(got) != most-around) || !c.fits && !errors.Is(err, localagent.ErrProtocol) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

func TestAStatusOtherThan200MeansUnavailable(t *testing.T) {
	for _, status := range []int{201, 204, 400, 401, 404, 429, 500, 503} {
		_, err := asking(t, loopback.Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				_, _ = io.WriteString(w, choices("private words"))
			}
		}).Complete(t.Context(), words)
		if !errors.Is(err, localagent.ErrUnavailable) || strings.Contains(err.Error(), "private") {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		seen := make(chan string, 1)
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen <- r.RequestURI
			says("application/json", choices("From elsewhere."))(w, r)
		}))
		_, err := asking(t, loopback.Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", other.URL+"/v1/chat/completions")
			w.WriteHeader(status)
		}).Complete(t.Context(), words)
		other.Close()
		if !errors.Is(err, localagent.ErrUnavailable) || len(seen) != 0 {
			t.Errorf("%d: %v, %d requests elsewhere", status, err, len(seen))
		}
	}
}

func TestNoProxyIsAsked(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	if _, err := asking(t, loopback.Config{}, says("application/json", choices("x"))).Complete(t.Context(), words); err != nil {
		t.Error(err)
	}
}

func TestALongRequestIsNotSent(t *testing.T) {
	client := asking(t, loopback.Config{}, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	long := []localagent.Message{{Role: localagent.User, Content: strings.Repeat("x", 128<<10)}}
	if _, err := client.Complete(t.Context(), long); !errors.Is(err, localagent.ErrTooLarge) {
		t.Error(err)
	}
}

func TestARequestOf128KiBIsSent(t *testing.T) {
	var size int64
	client := asking(t, loopback.Config{}, func(w http.ResponseWriter, r *http.Request) {
		size = r.ContentLength
		says("application/json", choices("x"))(w, r)
	})
	around := len(`{"model":"small","messages":[{"role":"user","content":""}],"temperature":0,"stream":false}`)
	whole := []localagent.Message{{Role: localagent.User, Content: strings.Repeat("x", 128<<10-around)}}
	if _, err := client.Complete(t.Context(), whole); err != nil || size != 128<<10 {
		t.Error(size, err)
	}
}

func TestASlowAnswerIsGivenUp(t *testing.T) {
	began := make(chan struct{}, 1)
	slow := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":`)
		_ = http.NewResponseController(w).Flush()
		began <- struct{}{}
		untilGone(r)
	}
	t.Run("in time", func(t *testing.T) {
		client := asking(t, loopback.Config{Timeout: 50 * time.Millisecond}, slow)
		if _, err := client.Complete(t.Context(), words); !errors.Is(err, localagent.ErrUnavailable) {
			t.Error(err)
		}
		<-began
	})
	t.Run("when it is cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		own := errors.New("own")
		go func() { <-began; cancel(own) }()
		if _, err := asking(t, loopback.Config{}, slow).Complete(ctx, words); !errors.Is(err, own) {
			t.Error(err)
		}
	})
}

func TestWhoDoesNotListenIsUnavailable(t *testing.T) {
	endpoint := httptest.NewServer(says("application/json", choices("x")))
	client, err := loopback.New(loopback.Config{Endpoint: endpoint.URL, Model: "small"})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Reachable(t.Context()); err != nil {
		t.Error(err)
	}
	endpoint.Close()
	if err := client.Reachable(t.Context()); !errors.Is(err, localagent.ErrUnavailable) {
		t.Error(err)
	}
	if _, err := client.Complete(t.Context(), words); !errors.Is(err, localagent.ErrUnavailable) {
		t.Error(err)
	}
}

func TestALongHeaderIsNotRead(t *testing.T) {
	_, err := asking(t, loopback.Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 64<<10))
		says("application/json", choices("x"))(w, r)
	}).Complete(t.Context(), words)
	if !errors.Is(err, localagent.ErrUnavailable) {
		t.Error(err)
	}
}

func TestWhatIsNotHTTPIsNotRepeated(t *testing.T) {
	_, err := asking(t, loopback.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "private words\r\n\r\n")
		_ = conn.Close()
	}).Complete(t.Context(), words)
	if !errors.Is(err, localagent.ErrUnavailable) || strings.Contains(err.Error(), "private") {
		t.Error(err)
	}
}
