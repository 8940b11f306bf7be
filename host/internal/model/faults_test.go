package model_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

// soon lets a refusal be tried again without a wait.
func soon(status int, body string) answer {
	return answer{status: status, header: http.Header{"Retry-After": {"0.0001"}}, body: body}
}

func TestWhatIsNoWholeAnswerIsAFailure(t *testing.T) {
	half := callsChunk(`{"index":0,"id":"a","function":{"name":"one","arguments":"{"}}`)
	for name, test := range map[string]struct {
		answers  []answer
		code     run.Code
		requests int
	}{
		"clean end without finish reason":    {[]answer{{body: frames(textChunk("x"))}}, run.CodeModelProtocol, 1},
		"done without finish reason":         {[]answer{sse(textChunk("x"))}, run.CodeModelProtocol, 1},
		"cut after a token":                  {[]answer{{body: frames(textChunk("x")), cut: true}}, run.CodeModelProtocol, 1},
		"garbage with 200":                   {[]answer{{body: "<html>hello</html>\n"}}, run.CodeModelProtocol, 1},
		"nothing with 200":                   {[]answer{{}}, run.CodeModelProtocol, 1},
		"a chunk that is no JSON":            {[]answer{sse(textChunk("x"), "{oops", finishChunk("stop"))}, run.CodeModelProtocol, 1},
		"an error inside the stream":         {[]answer{sse(textChunk("x"), `{"id":"1","error":{"message":"m"}}`)}, run.CodeModelProtocol, 1},
		"an error as the stream":             {[]answer{sse(`{"error":{"message":"m","type":"t"}}`)}, run.CodeModelUnavailable, 1},
		"calls cut at the token limit":       {[]answer{sse(half, finishChunk("length"))}, run.CodeModelProtocol, 1},
		"tool_calls without a call":          {[]answer{sse(textChunk("x"), finishChunk("tool_calls"))}, run.CodeModelProtocol, 1},
		"a call without a name":              {[]answer{sse(callsChunk(`{"index":0,"id":"a","function":{"arguments":"{}"}}`), finishChunk("tool_calls"))}, run.CodeModelProtocol, 1},
		"a refused request":                  {[]answer{{status: 400, body: `{"error":{"message":"bad"}}`}}, run.CodeModelProtocol, 1},
		"a wrong key":                        {[]answer{{status: 401, body: `{"error":{"message":"bad"}}`}}, run.CodeModelRefused, 1},
		"a redirect":                         {[]answer{{status: 307, header: http.Header{"Location": {"http://127.0.0.1:1/"}}}}, run.CodeModelUnavailable, 1},
		"always busy":                        {[]answer{soon(429, ""), soon(429, ""), soon(429, ""), soon(429, "")}, run.CodeModelSaturated, 4},
		"always broken":                      {[]answer{soon(500, "x"), soon(502, "<html>"), soon(503, `{}`), soon(529, "")}, run.CodeModelUnavailable, 4},
		"broken once, then refused for good": {[]answer{soon(500, "x"), {status: 403}}, run.CodeModelRefused, 2},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVendor(t, test.answers...)
			reply, err := v.client().Complete(t.Context(), question(), nil)
			if !run.IsCode(err, test.code) {
				t.Errorf("got %+v, %v; want code %s", reply, err, test.code)
			}
			if v.requests() != test.requests {
				t.Errorf("%d requests, want %d", v.requests(), test.requests)
			}
		})
	}
}

func TestAConnectionThatBreaksBeforeTheFirstTokenIsTriedAgain(t *testing.T) {
	v := newVendor(t, answer{cut: true}, sse(textChunk("x"), finishChunk("stop")))
	if reply := complete(t, v, question()); reply.Text != "x" {
		t.Errorf("text %q", reply.Text)
	}
}

func TestNobodyListeningIsUnavailable(t *testing.T) {
	v := newVendor(t)
	v.Close()
	_, err := v.client(func(c *model.OpenAIConfig) { c.MaxRetries = 0 }).Complete(t.Context(), question(), nil)
	if !run.IsCode(err, run.CodeModelUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestAReplyThatIsTooLongIsRefused(t *testing.T) {
	v := newVendor(t, sse(textChunk(strings.Repeat("x", 5000)), finishChunk("stop")))
	_, err := v.client(func(c *model.OpenAIConfig) { c.MaxReplyBytes = 1000 }).Complete(t.Context(), question(), nil)
	if !run.IsCode(err, run.CodeModelProtocol) {
		t.Errorf("got %v", err)
	}
}

func TestTheKeyAndTheVendorsWordsStayPrivate(t *testing.T) {
	for name, a := range map[string]answer{
		"in a refusal":  {status: 401, body: `{"error":{"message":"key ` + canary + ` is wrong, vendor words"}}`},
		"in plain text": {status: 403, body: canary + " vendor words"},
		"in a stream":   sse(`{"error":{"message":"key ` + canary + ` vendor words"}}`),
		"in a chunk":    sse(`{"id":"1","error":"` + canary + ` vendor words"}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newVendor(t, a).client().Complete(t.Context(), question(), nil)
			var failed *run.Error
			if !errors.As(err, &failed) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(failed.Sentence, "vendor words") || !strings.Contains(failed.Cause.Error(), "vendor words") {
				t.Errorf("sentence %q, cause %v", failed.Sentence, failed.Cause)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the key shows: %v", err)
			}
		})
	}
}

// TestAFloodOfCallsEndsAtTheLimit holds a reply to a time that does not grow with the square of its calls: one chunk
// within the size limit may hold hundreds of thousands.
func TestAFloodOfCallsEndsAtTheLimit(t *testing.T) {
	for name, piece := range map[string]string{
		"calls":         `{"id":"c%d","function":{"name":"b"}}`,
		"parts of name": `{"index":0,"function":{"name":"%d"}}`,
	} {
		var pieces []string
		for i := range 100_000 {
			pieces = append(pieces, fmt.Sprintf(piece, i))
		}
		began := time.Now()
		v := newVendor(t, sse(callsChunk(strings.Join(pieces, ",")), finishChunk("tool_calls")))
		_, err := v.client().Complete(t.Context(), question(), nil)
		if !run.IsCode(err, run.CodeModelProtocol) {
			t.Errorf("%s: error %v", name, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}
