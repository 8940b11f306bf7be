package blackbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// rawModel is a model API that writes whatever it likes. It is told the last question and the number of results that
// followed it.
func rawModel(t *testing.T, write func(w http.ResponseWriter, question string, step int)) *scriptedModel {
	t.Helper()
	m := &scriptedModel{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := m.take(r)
		write(w, request.question(), request.step())
	}))
	t.Cleanup(m.Close)
	return m
}

// hostile is one reply of a model that means harm, as the bytes of its chunks.
type hostile struct {
	name   string
	chunks []string
	ends   string // the kind of the terminal event
}

// delta is one chunk with a delta written by hand.
func delta(body string) string {
	return `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + body + `,"finish_reason":null}]}`
}

const (
	finishCalls = `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	finishStop  = `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
)

// toolDelta asks for one tool with arguments as a JSON literal.
func toolDelta(id, name, arguments string) string {
	return delta(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%s,"function":{"name":%s,"arguments":%s}}]}`, id, name, arguments))
}

func repeatCalls(n int, one func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = one(i)
	}
	return delta(`{"tool_calls":[` + strings.Join(parts, ",") + `]}`)
}

func hostileReplies() []hostile {
	bump := `"pska_bump"`
	deep := func(n int) string {
		return `"{\"a\":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}"`
	}
	calls := func(name, chunk string) hostile { return hostile{name, []string{chunk, finishCalls}, "session_end"} }
	return []hostile{
		{"three hundred calls in one step", []string{repeatCalls(300, func(i int) string {
			return fmt.Sprintf(`{"index":%d,"id":"c%d","function":{"name":"pska_bump","arguments":"{}"}}`, i, i)
		}), finishCalls}, "error"},
		{"a hundred thousand calls in one chunk", []string{repeatCalls(100_000, func(i int) string {
			return fmt.Sprintf(`{"id":"c%d","function":{"name":"b","arguments":""}}`, i)
		}), finishCalls}, "error"},
		{"a name in a hundred thousand pieces", []string{repeatCalls(100_000, func(i int) string {
			return fmt.Sprintf(`{"index":0,"function":{"name":"%d"}}`, i)
		}), finishCalls}, "error"},
		calls("one id for three calls", repeatCalls(3, func(i int) string {
			return fmt.Sprintf(`{"index":%d,"id":"same","function":{"name":"pska_bump","arguments":"{}"}}`, i)
		})),
		{"an empty name", []string{toolDelta(`"c"`, `""`, `"{}"`), finishCalls}, "error"},
		{"a huge name", []string{toolDelta(`"c"`, `"`+strings.Repeat("n", 1<<20)+`"`, `"{}"`), finishCalls}, "error"},
		calls("a name of control characters", toolDelta(`"c"`, `"a\u0000b\n\ndata: x\u2028\u0085\u001b[31m\r"`, `"{}"`)),
		calls("a huge id", toolDelta(`"`+strings.Repeat("i", 1<<20)+`"`, bump, `"{}"`)),
		calls("an id that breaks frames", toolDelta(`"\n\nevent: error\ndata: x\n\n"`, bump, `"{}"`)),
		calls("seven megabytes of arguments", toolDelta(`"c"`, bump, `"{\"a\":\"`+strings.Repeat("a", 7<<20)+`\"}"`)),
		{"twelve megabytes of arguments", []string{toolDelta(`"c"`, bump, `"{\"a\":\"`+strings.Repeat("a", 12<<20)+`\"}"`), finishCalls}, "error"},
		calls("arguments as deep as the decoder goes", toolDelta(`"c"`, bump, deep(9_999))),
		calls("arguments deeper still", toolDelta(`"c"`, bump, deep(10_000))),
		calls("arguments deeper than any decoder", toolDelta(`"c"`, bump, deep(200_000))),
		calls("arguments that are a list", toolDelta(`"c"`, bump, `"[1,2]"`)),
		calls("arguments that are a list themselves", toolDelta(`"c"`, bump, `[1,2]`)),
		calls("arguments that are text", toolDelta(`"c"`, bump, `"\"x\""`)),
		calls("arguments that are cut", toolDelta(`"c"`, bump, `"{\"a\":"`)),
		calls("arguments with NUL", toolDelta(`"c"`, bump, `"{\"a\":\"\\u0000\"}"`)),
		calls("arguments with a raw NUL", toolDelta(`"c"`, bump, `"{\"a\":\"\u0000\"}"`)),
		calls("arguments with lone surrogates", toolDelta(`"c"`, bump, `"{\"a\":\"\\ud800\",\"\\udfff\":1}"`)),
		calls("arguments with invalid UTF-8", toolDelta(`"c"`, bump, "\"{\\\"a\\\":\\\"\xff\xfe\\\"}\"")),
		calls("arguments with line breaks", toolDelta(`"c"`, bump, `"{\"a\u2028\":\"\u0085\u2029\\r\\n\\n\"}"`)),
		calls("a number of a hundred thousand digits", toolDelta(`"c"`, bump, `"{\"a\":0.`+strings.Repeat("9", 100_000)+`}"`)),
		calls("a tool of nobody", toolDelta(`"c"`, `"other_server_tool"`, `"{}"`)),
		calls("a raw name without its server", toolDelta(`"c"`, `"bump"`, `"{}"`)),
		{"text that looks like frames", []string{delta(`{"content":"a\n\ndata: [DONE]\n\nevent: done\n\u2028b\u0085c\rd\u001b[2J\u0000\u202e"}`), finishStop}, "session_end"},
		{"text that is no UTF-8", []string{delta("{\"content\":\"a\xff\xfeb\"}"), finishStop}, "session_end"},
		{"lone surrogates in text", []string{delta(`{"content":"a\ud800b"}`), finishStop}, "session_end"},
		{"no finish reason", []string{delta(`{"content":"half"}`)}, "error"},
		{"garbage", []string{`{"a":`, "\x00\x01\x02"}, "error"},
		{"an empty reply", nil, "error"},
		{"calls announced and not made", []string{finishCalls}, "error"},
	}
}

// TestAHostileModelHarmsNobody lets one service hear every bad reply there is. Each run ends with one terminal event
// and one result for every call, on a stream whose frames stay whole.
func TestAHostileModelHarmsNobody(t *testing.T) {
	t.Parallel()
	replies := map[string]hostile{}
	for _, reply := range hostileReplies() {
		replies[reply.name] = reply
	}
	model := rawModel(t, func(w http.ResponseWriter, question string, step int) {
		w.Header().Set("Content-Type", "text/event-stream")
		reply := replies[question]
		if step > 0 {
			reply = hostile{chunks: []string{delta(`{"content":"ok"}`), finishStop}}
		}
		for _, chunk := range reply.chunks {
			fmt.Fprintf(w, "data: %s\n\n", chunk)
		}
		if reply.name != "no finish reason" {
			fmt.Fprint(w, "data: [DONE]\n\n")
		}
	})
	s := start(t, model, "")
	for _, reply := range hostileReplies() {
		all := s.stream(ask(reply.name, nil)).rest()
		orderly(t, reply, all)
		id, _ := all[0].json(t)["run_id"].(string)
		if status, raw := s.request("GET", "/v1/runs/"+id+"/events", nil); status != 200 {
			t.Errorf("%s: events %d %.200s", reply.name, status, raw)
		}
	}
	if status, _ := s.request("GET", "/health", nil); status != 200 {
		t.Errorf("the service does not live: %d", status)
	}
}

// orderly checks what holds for the events of every run.
func orderly(t *testing.T, reply hostile, all []frame) {
	t.Helper()
	if len(all) < 3 || all[len(all)-1].event != "done" || all[len(all)-2].event != reply.ends {
		t.Errorf("%s: events %v, want the end %s", reply.name, kinds(all), reply.ends)
		return
	}
	if ends := len(of(all, "session_end")) + len(of(all, "error")); ends != 1 {
		t.Errorf("%s: %d terminal events", reply.name, ends)
	}
	open := map[any]int{}
	for i, f := range all[:len(all)-1] {
		event := f.json(t)
		if event["sequence"] != float64(i) {
			t.Errorf("%s: event %d has sequence %v", reply.name, i, event["sequence"])
		}
		switch f.event {
		case "tool_call":
			open[event["tool_call_id"]]++
		case "tool_result":
			open[event["tool_call_id"]]--
		}
	}
	for id, n := range open {
		if n != 0 {
			t.Errorf("%s: call %.40v is %d results short", reply.name, id, n)
		}
	}
}
