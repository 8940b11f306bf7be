package blackbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// raw sends bytes on a connection of its own and returns the status line's code, 0 when the server just hung up.
func (s *service) raw(request string) int {
	s.t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(connection, request)
	line, _ := bufio.NewReader(connection).ReadString('\n')
	code := 0
	_, _ = fmt.Sscanf(line, "HTTP/1.1 %d", &code)
	return code
}

// TestOddRequestsGetPlainRefusals sends what a client library would not.
func TestOddRequestsGetPlainRefusals(t *testing.T) {
	s := start(t, newModel(t, searchThenAnswer), "", "FASTREACT_SERVICE_TOKEN=canary-token-4711")
	host := strings.TrimPrefix(s.url, "http://")
	_, port, _ := net.SplitHostPort(host)
	head := func(method, path string, lines ...string) string {
		return method + " " + path + " HTTP/1.1\r\n" + strings.Join(append(lines, "Connection: close"), "\r\n") + "\r\n\r\n"
	}
	auth := "Authorization: Bearer canary-token-4711"
	self := "Host: " + host
	big := strings.Repeat("x", 2<<20)
	for _, c := range []struct {
		name, request string
		codes         []int
	}{
		{"the right token", head("GET", "/v1/runs", self, auth), []int{200}},
		{"localhost", head("GET", "/v1/runs", "Host: localhost:"+port, auth), []int{200}},
		{"IPv6 loopback name", head("GET", "/v1/runs", "Host: [::1]:"+port, auth), []int{200}},
		{"another port", head("GET", "/v1/runs", "Host: 127.0.0.1:1", auth), []int{403}},
		{"localhost without port", head("GET", "/v1/runs", "Host: localhost", auth), []int{403}},
		{"a name that ends in localhost", head("GET", "/v1/runs", "Host: evil.localhost:"+port, auth), []int{403}},
		{"user info in Host", head("GET", "/v1/runs", "Host: x@"+host, auth), []int{400, 403}},
		{"no Host", head("GET", "/v1/runs", auth), []int{400}},
		{"two Hosts", head("GET", "/v1/runs", self, "Host: evil.example", auth), []int{400}},
		{"an absolute foreign URL", head("GET", "http://evil.example/v1/runs", self, auth), []int{403}},
		{"Origin of localhost", head("GET", "/v1/runs", self, auth, "Origin: http://localhost:"+port), []int{200}},
		{"Origin of another port", head("GET", "/v1/runs", self, auth, "Origin: http://127.0.0.1:1"), []int{403}},
		{"two Origins", head("GET", "/v1/runs", self, auth, "Origin: http://"+host, "Origin: http://evil.example"), []int{403}},
		{"Origin of an extension", head("GET", "/v1/runs", self, auth, "Origin: chrome-extension://abc"), []int{403}},
		{"two tokens, one wrong", head("GET", "/v1/runs", self, auth, "Authorization: Bearer wrong"), []int{401}},
		{"two headers that differ", head("GET", "/v1/runs", self, auth, "X-FastReAct-Service-Token: wrong"), []int{401}},
		{"an empty bearer", head("GET", "/v1/runs", self, "Authorization: Bearer "), []int{401}},
		{"a token as user and password", head("GET", "/v1/runs", self, "Authorization: Basic Y2FuYXJ5LXRva2VuLTQ3MTE="), []int{401}},
		{"length and chunks", "POST /v1/runs HTTP/1.1\r\n" + self + "\r\n" + auth + "\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n", []int{400, 422}},
		{"two lengths", "POST /v1/runs HTTP/1.1\r\n" + self + "\r\n" + auth + "\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", []int{400}},
		{"a space before the colon", head("GET", "/v1/runs", self, "Authorization : Bearer canary-token-4711"), []int{400}},
		{"a huge header", head("GET", "/v1/runs", self, auth, "X: "+big), []int{431, 0}},
		{"chunks beyond the limit", "POST /v1/runs HTTP/1.1\r\n" + self + "\r\n" + auth + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n" + big + "\r\n0\r\n\r\n", []int{413}},
		{"a body of text", "POST /v1/runs HTTP/1.1\r\n" + self + "\r\n" + auth + "\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", []int{415}},
		{"a body of two types", "POST /v1/runs HTTP/1.1\r\n" + self + "\r\n" + auth + "\r\nContent-Type: application/json, text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", []int{415}},
		{"a body with a charset", "POST /v1/runs HTTP/1.1\r\n" + self + "\r\n" + auth + "\r\nContent-Type: Application/JSON; charset=utf-8\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", []int{422}},
		{"OPTIONS", head("OPTIONS", "/v1/runs", self, auth), []int{405}},
		{"TRACE", head("TRACE", "/v1/runs", self, auth), []int{405}},
		{"an escaped way up", head("GET", "/v1/runs/..%2f..%2fready", self, auth), []int{404}},
		{"a way up", head("GET", "/v1/runs/../runs", self, auth), []int{404}},
		{"an escaped NUL", head("GET", "/v1/runs/a%00b", self, auth), []int{404}},
		{"an escaped slash", head("GET", "/v1/runs/a%2fevents", self, auth), []int{404}},
		{"a double slash", head("GET", "//v1/runs", self, auth), []int{404}},
		{"a path that is no UTF-8", head("GET", "/v1/runs/%ff%fe", self, auth), []int{404}},
		{"a long id", head("GET", "/v1/runs/"+strings.Repeat("a", 10_000), self, auth), []int{404}},
		{"an id longer than any header", head("GET", "/v1/runs/"+strings.Repeat("a", 100_000), self, auth), []int{431}},
		{"a query that is no number", head("GET", "/v1/runs?limit=99999999999999999999", self, auth), []int{422}},
		{"a run of nobody with a garbled cursor", head("GET", "/v1/runs/x/stream?after_sequence=abc", self, auth), []int{404, 422}},
	} {
		if code := s.raw(c.request); !slices.Contains(c.codes, code) {
			t.Errorf("%s: %d, want %v", c.name, code, c.codes)
		}
	}
}

// TestCursorsBeyondTheStreamAreHarmless reads a finished run from places that do not exist.
func TestCursorsBeyondTheStreamAreHarmless(t *testing.T) {
	s := start(t, newModel(t, func(asked) said { return said{text: "ok"} }), "")
	s.stream(ask("q", map[string]any{"metadata": map[string]any{"run_id": "short"}})).rest()
	for _, c := range []struct {
		cursor string
		status int
	}{{"-1", 200}, {"0", 200}, {"999999", 200}, {"9223372036854775807", 200}, {"9223372036854775808", 400}, {"-2", 400}, {"abc", 400}, {"1 OR 1=1", 400}} {
		status, raw := s.request("GET", "/v1/runs/short/stream", nil, "Last-Event-ID", c.cursor)
		if status != c.status || status == 200 && !strings.HasSuffix(string(raw), "event: done\ndata: [DONE]\n\n") {
			t.Errorf("Last-Event-ID %s: %d, want %d: %.300s", c.cursor, status, c.status, raw)
		}
	}
	_, raw := s.request("GET", "/v1/runs/short/events?after_sequence=9223372036854775807", nil)
	if page := s.object(raw); page["has_more"] != false || page["count"] != 0.0 {
		t.Errorf("page beyond the end: %s", raw)
	}
}

// TestOfManyParallelRunsWithOneIDExactlyOneStarts races sixty requests.
func TestOfManyParallelRunsWithOneIDExactlyOneStarts(t *testing.T) {
	model := newModel(t, func(asked) said { return said{text: "ok"} })
	s := start(t, model, "")
	body := string(mustJSON(t, ask("q", map[string]any{"stream": false, "metadata": map[string]any{"run_id": "raced"}})))
	var all sync.WaitGroup
	var won, lost atomic.Int32
	for i := range 60 {
		path := []string{"/v1/runs", "/v1/chat/completions"}[i%2]
		all.Go(func() {
			response, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
			if err != nil {
				return
			}
			defer response.Body.Close()
			switch response.StatusCode {
			case 200:
				won.Add(1)
			case 409, 503:
				lost.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || lost.Load() != 59 {
		t.Errorf("%d won, %d lost", won.Load(), lost.Load())
	}
	s.awaitOver("raced")
	if n := len(model.requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestADisconnectStopsTheModelAndOnlyThatRun leaves one of two runs while the model thinks.
func TestADisconnectStopsTheModelAndOnlyThatRun(t *testing.T) {
	held, left := make(chan struct{}), make(chan string, 4)
	model := rawModel(t, nil)
	model.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		question := model.take(r).question()
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			left <- question
		case <-held:
			stream(w, said{text: "late"})
		}
	})
	s := start(t, model, "")
	begin := func(id string, more map[string]any) context.CancelFunc {
		more["metadata"] = map[string]any{"run_id": id}
		ctx, leave := context.WithCancel(t.Context())
		request, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/v1/chat/completions", strings.NewReader(string(mustJSON(t, ask(id, more)))))
		request.Header.Set("Content-Type", "application/json")
		go func() {
			if response, err := http.DefaultClient.Do(request); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		}()
		s.awaitModel(model, id)
		return leave
	}
	leave := []context.CancelFunc{
		begin("streamed", map[string]any{}),
		begin("whole", map[string]any{"stream": false}),
		begin("detached", map[string]any{"on_disconnect": "continue"}),
	}
	stays := begin("stays", map[string]any{})
	defer stays()
	for _, one := range leave {
		one()
	}
	gone := map[string]bool{}
	limit := time.After(2 * time.Second)
	for range 2 {
		select {
		case id := <-left:
			gone[id] = true
		case <-limit:
			t.Fatalf("only %v left the model within two seconds", gone)
		}
	}
	if !gone["streamed"] || !gone["whole"] {
		t.Errorf("left: %v", gone)
	}
	s.awaitStatus("streamed", "cancelled")
	s.awaitStatus("whole", "cancelled")
	close(held)
	s.awaitStatus("detached", "completed")
	s.awaitStatus("stays", "completed")
}

// awaitModel waits until the model was asked a question.
func (s *service) awaitModel(model *scriptedModel, question string) {
	s.t.Helper()
	s.await(20*time.Second, func() (bool, string) {
		heard := slices.ContainsFunc(model.requests(), func(a asked) bool { return a.question() == question })
		return heard, fmt.Sprintf("the model was never asked %q", question)
	})
}

// TestAReaderThatNeverReadsDelaysNobody opens connections that take nothing of a large run while others read.
func TestAReaderThatNeverReadsDelaysNobody(t *testing.T) {
	s := startLying(t, newModel(t, queryTheQuestion), "")
	s.stream(ask("giant", map[string]any{"metadata": map[string]any{"run_id": "large"}})).rest()
	for range 20 {
		connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		fmt.Fprintf(connection, "GET /v1/runs/large/stream HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(s.url, "http://"))
	}
	var took []time.Duration
	for range 40 {
		began := time.Now()
		if all := s.stream(ask("quick", nil)).rest(); len(of(all, "session_end")) != 1 {
			t.Errorf("events %v", kinds(all))
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("runs beside readers that never read: median %v, slowest %v", took[len(took)/2], took[len(took)-1])
	if typical := took[len(took)*9/10]; typical > 3*time.Second {
		t.Errorf("one run in ten took %v or more", typical)
	}
}

// TestOfFiftyRacingAnswersOneCountsAndTheToolRunsOnceAtMost answers one approval from fifty clients at once.
func TestOfFiftyRacingAnswersOneCountsAndTheToolRunsOnceAtMost(t *testing.T) {
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	for round := range 3 {
		before := len(received(t, s.oracleLog()))
		stream := s.stream(ask("bump", nil))
		id := pendingID(t, stream)
		var all sync.WaitGroup
		var codes [2][2]atomic.Int32 // approve or deny; 200 or 409
		for i := range 50 {
			word := []string{"approve", "deny"}[i%2]
			all.Go(func() {
				response, err := http.Post(s.url+"/v1/approvals/"+id+"/"+word, "application/json", nil)
				if err != nil {
					return
				}
				defer response.Body.Close()
				switch response.StatusCode {
				case 200:
					codes[i%2][0].Add(1)
				case 409:
					codes[i%2][1].Add(1)
				}
			})
		}
		all.Wait()
		approved, denied := codes[0][0].Load(), codes[1][0].Load()
		if approved+denied != 25 || approved*denied != 0 || codes[0][1].Load()+codes[1][1].Load() != 25 {
			t.Errorf("round %d: %d approvals and %d denials were taken", round, approved, denied)
		}
		stream.rest()
		if n := len(received(t, s.oracleLog())) - before; n != int(approved/25) {
			t.Errorf("round %d: the tool ran %d times, approved %d", round, n, approved)
		}
	}
}

// TestTenantsDoNotMix gives two tenants a run of the same id and looks with the eyes of each.
func TestTenantsDoNotMix(t *testing.T) {
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	ids := map[string]string{}
	for _, tenant := range []string{"red", "blue"} {
		body := ask("bump", map[string]any{"user_key": tenant + ":u", "metadata": map[string]any{"run_id": "same"}})
		if status, raw := s.request("POST", "/v1/runs", body); status != 200 {
			t.Fatalf("%s: %d %s", tenant, status, raw)
		}
		response := s.open("GET", "/v1/runs/same/stream", nil, "X-FastReAct-Tenant-Key", tenant)
		all := newFrames(t, response.Body).until("ask_user")
		ids[tenant] = all[len(all)-1].json(t)["approval_request_id"].(string)
	}
	if status, _ := s.request("GET", "/v1/runs/same", nil); status != 409 {
		t.Errorf("an ambiguous id: %d, want 409", status)
	}
	as := []string{"X-FastReAct-Tenant-Key", "blue"}
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/v1/approvals/" + ids["red"], 404},
		{"POST", "/v1/approvals/" + ids["red"] + "/deny", 404},
		{"POST", "/v1/approvals/" + ids["red"] + "/approve", 404},
		{"GET", "/v1/approvals/" + ids["blue"], 200},
		{"POST", "/v1/runs/same/cancel", 200},
	} {
		if status, raw := s.request(c.method, c.path, nil, as...); status != c.status {
			t.Errorf("blue: %s %s: %d, want %d: %s", c.method, c.path, status, c.status, raw)
		}
	}
	_, raw := s.request("GET", "/v1/runs/same", nil, "X-FastReAct-Tenant-Key", "red")
	if status := s.object(raw)["status"]; status != "running" {
		t.Errorf("red's run is %v after blue's was cancelled", status)
	}
	for name, c := range map[string]struct {
		body    map[string]any
		headers []string
	}{
		"another user in the header":   {ask("q", map[string]any{"user_key": "red:u"}), []string{"X-FastReAct-User-Key", "blue:u"}},
		"another tenant in the header": {ask("q", map[string]any{"metadata": map[string]any{"tenant_key": "red"}}), as},
	} {
		if status, raw := s.request("POST", "/v1/runs", c.body, c.headers...); status != 422 {
			t.Errorf("%s: %d, want 422: %s", name, status, raw)
		}
	}
}
