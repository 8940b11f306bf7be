package model_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

const canary = "sk-canary-4f2a"

// answer is one response of a scripted vendor.
type answer struct {
	status int // 0 means 200
	header http.Header
	body   string // raw bytes of the response
	cut    bool   // the connection breaks after the body
}

// vendor is an HTTP server that gives scripted answers and keeps what it was sent.
type vendor struct {
	*httptest.Server
	mu      sync.Mutex
	answers []answer
	bodies  []string
	headers []http.Header
}

func newVendor(t *testing.T, answers ...answer) *vendor {
	t.Helper()
	v := &vendor{answers: answers}
	v.Server = httptest.NewServer(v)
	t.Cleanup(v.Close)
	return v
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent, _ := io.ReadAll(r.Body)
	next, ok := v.take(string(sent), r.Header)
	if !ok {
		http.Error(w, "the script is over", http.StatusTeapot)
		return
	}
	for key, values := range next.header {
		w.Header()[key] = values
	}
	if next.status == 0 {
		next.status = http.StatusOK
		w.Header().Set("Content-Type", "text/event-stream")
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
	if next.cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func (v *vendor) take(sent string, header http.Header) (answer, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.bodies, v.headers = append(v.bodies, sent), append(v.headers, header)
	if len(v.answers) == 0 {
		return answer{}, false
	}
	next := v.answers[0]
	v.answers = v.answers[1:]
	return next, true
}

func (v *vendor) requests() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.bodies)
}

func (v *vendor) client(change ...func(*model.OpenAIConfig)) *model.OpenAI {
	cfg := model.OpenAIConfig{BaseURL: v.URL + "/v1", Name: "m", APIKey: canary, MaxRetries: 3}
	for _, c := range change {
		c(&cfg)
	}
	return model.NewOpenAI(cfg)
}

// sse joins data lines to a stream that ends as vendors end it.
func sse(data ...string) answer {
	return answer{body: frames(data...) + "data: [DONE]\n\n"}
}

func frames(data ...string) string {
	var out strings.Builder
	for _, line := range data {
		fmt.Fprintf(&out, "data: %s\n\n", line)
	}
	return out.String()
}

func textChunk(text string) string {
	return fmt.Sprintf(`{"model":"m-1","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`, text)
}

func finishChunk(reason string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

func callsChunk(calls string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[%s]},"finish_reason":null}]}`, calls)
}

const usageChunk = `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`

func question() model.Request {
	return model.Request{Messages: []run.Message{{Role: run.User, Content: "hello"}}}
}
