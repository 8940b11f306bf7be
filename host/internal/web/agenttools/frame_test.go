package agenttools

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// head is that of the page's mutation, without what frames its body.
func (b *bench) head(path string, more ...string) string {
	lines := []string{
		"POST " + path + " HTTP/1.1", "Host: " + b.authority, "Cookie: " + b.cookie, "Origin: http://" + b.authority,
		csrfHeader + ": " + b.csrf,
	}
	return strings.Join(append(lines, more...), "\r\n") + "\r\n\r\n"
}

const asJSON = "Content-Type: application/json"

func TestABodyIsFramedByOneLengthOnly(t *testing.T) {
	b := opened(t)
	for _, path := range paths(http.MethodPost) {
		body := bodyFor(path)
		length := fmt.Sprintf("Content-Length: %d", len(body))
		for _, c := range []struct {
			name string
			head []string
			body string
		}{
			{"no length", []string{asJSON}, ""},
			{"chunks", []string{asJSON, "Transfer-Encoding: chunked"}, fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)},
			{"chunks and a length", []string{asJSON, length, "Transfer-Encoding: chunked"}, fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)},
			{"another coding", []string{asJSON, "Transfer-Encoding: gzip, chunked"}, body},
			{"no coding at all", []string{asJSON, length, "Transfer-Encoding: identity"}, body},
			{"two lengths", []string{asJSON, length, "Content-Length: 1"}, body},
			{"the length twice", []string{asJSON, length, length}, body},
			{"the length twice in one line", []string{asJSON, fmt.Sprintf("Content-Length: %d, %d", len(body), len(body))}, body},
			{"a negative length", []string{asJSON, "Content-Length: -1"}, body},
			{"a signed length", []string{asJSON, fmt.Sprintf("Content-Length: +%d", len(body))}, body},
			{"the type twice", []string{asJSON, asJSON, length}, body},
			{"a body that ends early", []string{asJSON, length}, body[:len(body)-1]},
		} {
			b.hands.move(30 * time.Millisecond)
			got := b.raw(b.head(path, c.head...), c.body)
			refusedRaw(t, path+" with "+c.name, got, 400, "invalid_request")
		}
	}
	if n := b.engine.calls.Load(); n != 0 {
		t.Errorf("the engine heard of %d requests", n)
	}
}

// refusedRaw looks at an answer as it came: whole, alone, with every header, and the connection ended after it.
func refusedRaw(t *testing.T, what, raw string, status int, code string) {
	t.Helper()
	reader := bufio.NewReader(strings.NewReader(raw))
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Errorf("%s: %v in %q", what, err, raw)
		return
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	got := answer{response.StatusCode, response.Header, string(body)}
	if got.status != status || got.code(t) != code || !response.Close {
		t.Errorf("%s: %q", what, raw)
	}
	guarded(t, what, got)
	if rest, _ := io.ReadAll(reader); len(rest) > 0 {
		t.Errorf("%s: after the answer came %q", what, rest)
	}
}

func TestWhatCannotBeReadIsRefusedInTheShapeOfTheContract(t *testing.T) {
	b := opened(t)
	for _, c := range []struct {
		name, request string
		status        int
		code          string
	}{
		{"no HTTP", "hello\r\n\r\n", 400, "invalid_request"},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 403, "host_rejected"},
		{"two hosts", "GET / HTTP/1.1\r\nHost: " + b.authority + "\r\nHost: " + b.authority + "\r\n\r\n", 403, "host_rejected"},
		{"an old request without a host", "GET / HTTP/1.0\r\n\r\n", 403, "host_rejected"},
		{"a whole address", "GET http://" + b.authority + "/api/v1/session HTTP/1.1\r\nHost: " + b.authority + "\r\nConnection: close\r\n\r\n", 403, "host_rejected"},
		{"a head that is too large", "GET / HTTP/1.1\r\nHost: " + b.authority + "\r\nX: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", 431, "headers_too_large"},
		{"an expectation", "GET / HTTP/1.1\r\nHost: " + b.authority + "\r\nExpect: wonders\r\n\r\n", 400, "invalid_request"},
		{"a reading request with a body", "GET /api/v1/session HTTP/1.1\r\nHost: " + b.authority + "\r\nCookie: " + b.cookie + "\r\nContent-Length: 2\r\n\r\n{}", 400, "invalid_request"},
	} {
		refusedRaw(t, c.name, b.raw(c.request), c.status, c.code)
	}
}

func TestABodyThatDoesNotArriveInTimeIsRefused(t *testing.T) {
	var asked atomic.Int64
	b := opened(t, func(cfg *Config) {
		cfg.BodyTimeout = 20 * time.Millisecond
		cfg.Clock = func() time.Time { return start.Add(time.Duration(asked.Add(1)) * cfg.MutationInterval) }
		cfg.MutationInterval = 30 * time.Millisecond
	})
	var all sync.WaitGroup
	for _, path := range paths(http.MethodPost) {
		connection, err := net.Dial("tcp", b.authority)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer connection.Close()
			fmt.Fprint(connection, b.head(path, asJSON, "Content-Length: 20")+"{")
			raw, _ := io.ReadAll(connection)
			refusedRaw(t, path, string(raw), 400, "invalid_request")
		})
	}
	all.Wait()
	if n := b.engine.calls.Load(); n != 0 {
		t.Errorf("the engine heard of %d requests", n)
	}
}

func TestABodyThatTricklesIsRefusedWhenItsTimeIsOver(t *testing.T) {
	b := opened(t, func(cfg *Config) { cfg.BodyTimeout = 50 * time.Millisecond })
	connection, err := net.Dial("tcp", b.authority)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprint(connection, b.head("/api/v1/agent-tools/turns", asJSON, "Content-Length: 4000"))
	over := make(chan struct{})
	go func() { // a byte at a time, for as long as anybody reads
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				_, _ = io.WriteString(connection, " ")
			}
		}
	}()
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	close(over)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != 400 || b.engine.calls.Load() != 0 {
		t.Errorf("%s, the engine heard of %d requests", response.Status, b.engine.calls.Load())
	}
}

func TestACallMayTakeLongerThanItsBodyAndItsAnswer(t *testing.T) {
	b := opened(t, func(cfg *Config) { cfg.BodyTimeout, cfg.WriteTimeout = 200*time.Millisecond, 200*time.Millisecond })
	b.engine.hold = make(chan struct{})
	got := make(chan answer, 1)
	go func() { got <- b.post("/api/v1/agent-tools/calls", bodyFor("/calls")) }()
	<-b.engine.held
	<-time.After(250 * time.Millisecond)
	close(b.engine.hold)
	if a := <-got; a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestOneConnectionServesManyWellFramedRequests(t *testing.T) {
	b := opened(t)
	connection, err := net.Dial("tcp", b.authority)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	reader := bufio.NewReader(connection)
	body := bodyFor("/calls")
	for i := range 3 {
		b.hands.move(30 * time.Millisecond)
		fmt.Fprint(connection, b.head("/api/v1/agent-tools/calls", asJSON, fmt.Sprintf("Content-Length: %d", len(body)))+body)
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != 201 || response.Close {
			t.Errorf("request %d: %s, closed %t, %v", i, response.Status, response.Close, err)
		}
	}
}

func TestFramesAreFollowedHoweverTheyAreCut(t *testing.T) {
	good := "POST / HTTP/1.1\r\nContent-Length: 22\r\n\r\nContent-Length: 5\r\n\r\n\r\n"
	bad := "GET / HTTP/1.1\nContent-length: 0\nX: y\ncontent-LENGTH:0\n\n"
	for step := 1; step < 20; step++ {
		for _, c := range []struct {
			sent  string
			twice bool
		}{{good + good, false}, {bad, true}, {good + bad, true}} {
			var f frames
			for rest := []byte(c.sent); len(rest) > 0; rest = rest[min(step, len(rest)):] {
				f.see(rest[:min(step, len(rest))])
			}
			if f.twice.Load() != c.twice {
				t.Errorf("in steps of %d: %q is declared twice: %t", step, c.sent, f.twice.Load())
			}
		}
	}
}

func FuzzFramesHoldLittle(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET"), 3)
	f.Fuzz(func(t *testing.T, sent []byte, step int) {
		var seen frames
		for step = max(step, 1); len(sent) > 0; sent = sent[min(step, len(sent)):] {
			seen.see(sent[:min(step, len(sent))])
			if len(seen.line) > maxLine || seen.skip < 0 {
				t.Fatalf("%d bytes are held, %d are skipped", len(seen.line), seen.skip)
			}
		}
	})
}
