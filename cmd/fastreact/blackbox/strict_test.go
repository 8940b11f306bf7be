package blackbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"testing"
)

// strictModel stands in front of a model API and holds every request to the rules of the strictest vendors. It passes
// on what it is asked, and fails the test for what such a vendor would refuse.
type strictModel struct {
	*scriptedModel
	mu        sync.Mutex
	reasoning map[string]string // by the first call id of the message it came with
	problems  []string
}

// strict puts the rules in front of the API at an address.
func strict(t *testing.T, upstream string) *strictModel {
	t.Helper()
	target, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	m := &strictModel{scriptedModel: &scriptedModel{}, reasoning: map[string]string{}}
	proxy := &httputil.ReverseProxy{
		FlushInterval:  -1,
		ErrorLog:       log.New(io.Discard, "", 0), // broken streams are what some tests are about
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: m.listen,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		m.take(r)
		m.inspect(raw)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		m.Close()
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, problem := range m.problems {
			t.Error("a strict vendor refuses: " + problem)
		}
	})
	return m
}

// listen keeps a copy of a stream, to know which reasoning came with which calls.
func (m *strictModel) listen(r *http.Response) error {
	heard := &bytes.Buffer{}
	r.Body = &overheard{Reader: io.TeeReader(r.Body, heard), Closer: r.Body, end: func() { m.remember(heard.Bytes()) }}
	return nil
}

// overheard is a body that says when it is read to its end.
type overheard struct {
	io.Reader
	io.Closer
	end func()
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if err != nil {
		o.end()
	}
	return n, err
}

// remember reads a stream's reasoning and its first call.
func (m *strictModel) remember(stream []byte) {
	reasoning, id := "", ""
	for line := range bytes.Lines(stream) {
		var chunk struct {
			Choices []struct {
				Delta struct {
					Reasoning string `json:"reasoning_content"`
					Calls     []struct {
						ID string `json:"id"`
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		data, is := bytes.CutPrefix(line, []byte("data: "))
		if !is || json.Unmarshal(data, &chunk) != nil || len(chunk.Choices) == 0 {
			continue
		}
		delta := chunk.Choices[0].Delta
		reasoning += delta.Reasoning
		if len(delta.Calls) > 0 && id == "" {
			id = delta.Calls[0].ID
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if id != "" {
		m.reasoning[id] = reasoning
	}
}

// spoken is one message as a vendor reads it.
type spoken struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	CallID    string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

var vendorName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// inspect notes what is wrong with a request.
func (m *strictModel) inspect(raw []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wrong := func(format string, args ...any) {
		m.problems = append(m.problems, fmt.Sprintf(format, args...)+fmt.Sprintf("\n%.2000s", raw))
	}
	var request struct {
		Messages []spoken `json:"messages"`
		Tools    []struct {
			Function struct {
				Name       string         `json:"name"`
				Parameters map[string]any `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(raw, &request); err != nil || len(request.Messages) == 0 {
		wrong("no messages: %v", err)
		return
	}
	for _, tool := range request.Tools {
		if !vendorName.MatchString(tool.Function.Name) || tool.Function.Parameters["type"] != "object" {
			wrong("tool %q with parameters %v", tool.Function.Name, tool.Function.Parameters)
		}
	}
	m.order(request.Messages, wrong)
}

// order holds the messages to their order: every call is answered by one result, at once.
func (m *strictModel) order(messages []spoken, wrong func(string, ...any)) {
	open, ever, others := map[string]bool{}, map[string]bool{}, false
	for i, message := range messages {
		if message.Role == "tool" {
			if !open[message.CallID] {
				wrong("message %d answers %q, which is not open", i, message.CallID)
			}
			delete(open, message.CallID)
			if text(message.Content) == nil {
				wrong("message %d has no text", i)
			}
			continue
		}
		if len(open) > 0 {
			wrong("message %d comes before the results of %v", i, open)
		}
		if message.Role == "system" && others && i != len(messages)-1 {
			wrong("message %d is a system message in the middle", i)
		}
		others = others || message.Role != "system"
		if len(message.Calls) == 0 {
			if words := text(message.Content); words == nil || *words == "" {
				wrong("message %d of %s is empty", i, message.Role)
			}
			continue
		}
		if message.Role != "assistant" {
			wrong("message %d of %s asks for tools", i, message.Role)
		}
		if came, known := m.reasoning[message.Calls[0].ID]; known && came != message.Reasoning {
			wrong("message %d came with reasoning %q and goes back with %q", i, came, message.Reasoning)
		}
		for _, call := range message.Calls {
			var object map[string]any
			if call.ID == "" || ever[call.ID] || !vendorName.MatchString(call.Function.Name) || call.Type != "function" ||
				json.Unmarshal([]byte(call.Function.Arguments), &object) != nil || object == nil {
				wrong("message %d has a bad call %+v", i, call)
			}
			ever[call.ID], open[call.ID] = true, true
		}
	}
	if len(open) > 0 {
		wrong("the calls %v are not answered", open)
	}
}

// text is the text of a content; nil when it is none.
func text(content json.RawMessage) *string {
	var words *string
	_ = json.Unmarshal(content, &words)
	return words
}
