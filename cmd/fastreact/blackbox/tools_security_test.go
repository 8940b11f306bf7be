package blackbox

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

// raw is a request as bytes: its head's lines and what follows the head.
type raw struct {
	method, path string
	head         map[string]string // an empty value leaves the line out; "a\x00b" writes it twice
	body         string
	stall        bool // half of the body never comes
}

// wire sends bytes over a connection of its own and reads one answer.
func (s *station) wire(r raw) replied {
	s.t.Helper()
	return s.wires(r.text(), 1)[0]
}

// wires sends bytes over a connection of its own and reads this many answers.
func (s *station) wires(text string, answers int) (all []replied) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.authority)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(waitForTurns))
	if _, err := io.WriteString(conn, text); err != nil {
		s.t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	for range answers {
		all = append(all, s.answer(reader))
	}
	return all
}

func (r raw) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\n", r.method, r.path)
	for name, values := range r.head {
		for _, value := range strings.Split(values, "\x00") {
			if value != "" {
				fmt.Fprintf(&text, "%s: %s\r\n", name, value)
			}
		}
	}
	body := r.body
	if r.stall {
		body = body[:len(body)/2]
	}
	return text.String() + "\r\n" + body
}

func (s *station) answer(from *bufio.Reader) replied {
	s.t.Helper()
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		s.t.Fatalf("no answer: %v\n%s", err, s.output)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return replied{response.StatusCode, body, response.Header}
}

// cell is one thing that may be wrong with a request, and what is answered when it writes and when it reads.
type cell struct {
	name          string
	change        func(*raw)
	writes, reads string // empty: the answer of a request with nothing wrong
}

func head(name, value string) func(*raw) { return func(r *raw) { r.head[name] = value } }

// cells is the matrix. Origin, token, type and pace are asked of requests that change something only.
func (s *station) cells(stale, staleToken string) []cell {
	const host, session, mutation, request = "403 host_rejected", "401 session_required", "403 mutation_rejected", "400 invalid_request"
	_, port, _ := net.SplitHostPort(s.authority)
	sized := func(bytes int) func(*raw) {
		return func(r *raw) {
			r.body = fmt.Sprintf("{%*s}", bytes-2, "")
			r.head["Content-Length"] = fmt.Sprint(bytes)
		}
	}
	chunked := func(r *raw) {
		r.body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(r.body), r.body)
		r.head["Content-Length"], r.head["Transfer-Encoding"] = "", "chunked"
	}
	twice := func(second int) func(*raw) {
		return func(r *raw) {
			length := len(r.body)
			r.head["Content-Length"] = fmt.Sprintf("%d\x00%d", length, length+second)
		}
	}
	return []cell{
		{"another host", head("Host", "labfy.example"), host, host},
		{"localhost", head("Host", "localhost:"+port), host, host},
		{"a host without its port", head("Host", "127.0.0.1"), host, host},
		{"no host", head("Host", ""), host, host},
		{"another host and nothing else", func(r *raw) { r.head = map[string]string{"Host": "labfy.example"} }, host, host},
		{"no cookie", head("Cookie", ""), mutation, session},
		{"a stale cookie", head("Cookie", stale), mutation, session},
		{"a cookie of another name", head("Cookie", "x"+s.cookie), mutation, session},
		{"no origin", head("Origin", ""), mutation, ""},
		{"a foreign origin", head("Origin", "http://labfy.example"), mutation, ""},
		{"origin null", head("Origin", "null"), mutation, ""},
		{"the origin twice", head("Origin", "http://"+s.authority+"\x00http://labfy.example"), mutation, ""},
		{"the origin over https", head("Origin", "https://"+s.authority), mutation, ""},
		{"no token", head("X-Labfy-CSRF", ""), mutation, ""},
		{"a wrong token", head("X-Labfy-CSRF", strings.Repeat("0", 64)), mutation, ""},
		{"a stale token", head("X-Labfy-CSRF", staleToken), mutation, ""},
		{"no type", head("Content-Type", ""), request, ""},
		{"plain text", head("Content-Type", "text/plain"), request, ""},
		{"a type with a parameter", head("Content-Type", "application/json; charset=utf-8"), request, ""},
		{"the type twice", head("Content-Type", "application/json\x00application/json"), request, ""},
		{"4097 bytes", sized(4097), "413 body_too_large", request},
		{"4097 bytes of another type", func(r *raw) { sized(4097)(r); r.head["Content-Type"] = "text/plain" }, request, request},
		{"a chunked body", chunked, request, request},
		{"chunks and a length", func(r *raw) { chunked(r); r.head["Content-Length"] = fmt.Sprint(len(r.body)) }, request, request},
		{"one length twice", twice(0), request, request},
		{"two lengths", twice(1), request, request},
		{"no length", func(r *raw) { r.body, r.head["Content-Length"] = "", "" }, request, ""},
		{"a body that does not come whole", func(r *raw) { r.stall = true }, request, request},
	}
}

// whole is a request of the page to one route, with nothing wrong. None of them would execute anything.
func (s *station) whole(route string) raw {
	method, path, _ := strings.Cut(route, " ")
	r := raw{method: method, path: path, head: map[string]string{"Host": s.authority, "Cookie": s.cookie, "Connection": "close"}}
	if method == http.MethodPost {
		r.body = "{ }"
		r.head["Origin"], r.head["X-Labfy-CSRF"], r.head["Content-Type"] = "http://"+s.authority, s.csrf, "application/json"
		r.head["Content-Length"] = "3"
	}
	return r
}

// sixRoutes are the routes of the protocol, and what a whole request that executes nothing is answered there.
func sixRoutes() map[string]string {
	at := " " + toolsPath
	return map[string]string{
		"GET" + at + "/catalog": "200 ", "GET" + at + "/events?cursor=0": "200 ", "GET" + at + "/results/" + uuid(): "404 agent_tool_result_unknown",
		"POST" + at + "/turns": "400 agent_tool_invalid", "POST" + at + "/calls": "400 agent_tool_invalid",
		"POST" + at + "/turns/" + uuid() + "/resume": "404 agent_turn_unknown",
	}
}

// TestSixRoutesHoldTheSecurityMatrix sends every wrong request to every route as bytes, and then looks whether anything
// was executed.
func TestSixRoutesHoldTheSecurityMatrix(t *testing.T) {
	t.Parallel()
	s := startTools(t, map[string]specimen.Workspace{"harbour": specimen.Harbour()}, "active: harbour, body_timeout: 300ms, mutation_interval: 30ms", "")
	stale, staleToken := s.cookie, s.csrf
	s.enter()
	before := s.footprint()
	for route, usual := range sixRoutes() {
		for _, c := range s.cells(stale, staleToken) {
			r := s.whole(route)
			c.change(&r)
			want := c.reads
			if r.method == http.MethodPost {
				want = c.writes
			} else if r.body != "" && r.head["Content-Length"] == "" && r.head["Transfer-Encoding"] == "" || r.body == "" && strings.HasPrefix(c.name, "a body") {
				continue // a request that reads has no body to cut
			}
			if want == "" {
				want = usual
			}
			s.pause()
			got := s.wire(r)
			s.last = time.Now()
			if got.outcome() != want {
				t.Errorf("%s with %s: %s, want %s", route, c.name, got.outcome(), want)
			}
			s.guarded(route+" with "+c.name, got)
		}
	}
	s.largestBody(t)
	s.tooSoon(t)
	if after := s.footprint(); after != before {
		t.Errorf("the matrix left %s, before %s", after, before)
	}
	_, good := inputs(t)
	if s.call("graph.get_node", good["graph.get_node"]); s.footprint() == before {
		t.Error("an executed call leaves no footprint: this test could not fail")
	}
}

// guarded looks for the headers of every answer.
func (s *station) guarded(what string, got replied) {
	s.t.Helper()
	for name, value := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
	} {
		if got.header.Get(name) != value {
			s.t.Errorf("%s: %s is %q", what, name, got.header.Get(name))
		}
	}
	if policy := got.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'self'") || strings.Contains(policy, "unsafe") {
		s.t.Errorf("%s: policy %q", what, policy)
	}
	for name := range got.header {
		if strings.HasPrefix(name, "Access-Control-") {
			s.t.Errorf("%s: an answer has %s", what, name)
		}
	}
}

// largestBody sends 4096 bytes, which are read: what is in them is refused for what it is.
func (s *station) largestBody(t *testing.T) {
	t.Helper()
	for route, usual := range sixRoutes() {
		r := s.whole(route)
		if r.method == http.MethodGet {
			continue
		}
		r.body = fmt.Sprintf("{%4094s}", "")
		r.head["Content-Length"] = "4096"
		s.pause()
		got := s.wire(r)
		s.last = time.Now()
		if got.outcome() != usual {
			t.Errorf("%s with 4096 bytes: %s, want %s", route, got.outcome(), usual)
		}
	}
}

// tooSoon sends two requests in one breath: the second is too soon, whatever it wants. Twenty at once pass one by one.
func (s *station) tooSoon(t *testing.T) {
	t.Helper()
	for route, usual := range sixRoutes() {
		var outcomes []string
		want := "429 rate_limited"
		for range 5 { // a busy machine may take more than 30 ms between the two
			s.pause()
			outcomes = s.breath(s.whole(route))
			s.last = time.Now()
			if strings.HasPrefix(route, "GET") {
				want = usual
			}
			if outcomes[1] == want {
				break
			}
		}
		if outcomes[0] != usual || outcomes[1] != want {
			t.Errorf("%s twice in one breath: %v, want %s and %s", route, outcomes, usual, want)
		}
	}
	s.pause()
	var all sync.WaitGroup
	var mu sync.Mutex
	passed := 0
	began := time.Now()
	for range 20 {
		all.Go(func() {
			got := s.wire(s.whole("POST " + toolsPath + "/calls"))
			mu.Lock()
			defer mu.Unlock()
			switch got.outcome() {
			case "400 agent_tool_invalid":
				passed++
			case "429 rate_limited":
				if got.header.Get("Retry-After") == "" {
					t.Error("429 without Retry-After")
				}
			default:
				t.Errorf("one of twenty at once: %s", got.outcome())
			}
		})
	}
	all.Wait()
	if most := int(time.Since(began)/s.interval) + 1; passed < 1 || passed > most {
		t.Errorf("%d of twenty at once passed, at most %d may", passed, most)
	}
	s.last = time.Now()
}

// breath sends a request twice in one write, and reads both answers.
func (s *station) breath(r raw) (outcomes []string) {
	s.t.Helper()
	r.head["Connection"] = ""
	for _, answer := range s.wires(r.text()+r.text(), 2) {
		outcomes = append(outcomes, answer.outcome())
	}
	return outcomes
}
