package blackbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// impatient is a connection whose reader gives up when nothing came for as long as its patience.
type impatient struct{ net.Conn }

const patience = 2 * time.Second

func (c impatient) Read(into []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(into)
}

// proxied is a reverse proxy before the service that closes what is idle, as proxies do, and passes on what comes.
func (s *service) proxied() string {
	s.t.Helper()
	target, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return impatient{connection}, err
		}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { _ = recover() }() // the proxy panics when it cuts an answer that has begun
		proxy.ServeHTTP(w, r)
	}))
	s.t.Cleanup(server.Close)
	return server.URL
}

// quiet runs a service whose model says nothing until it is released.
func quiet(t *testing.T, keepalive string) (s *service, release func()) {
	t.Helper()
	held := make(chan struct{})
	model := rawModel(t, nil)
	model.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		model.take(r)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-held:
			stream(w, said{text: "late"})
		case <-r.Context().Done():
		}
	})
	s = startEdited(t, model, func(text string) string {
		return strings.Replace(text, "keepalive: 1s", "keepalive: "+keepalive, 1)
	})
	return s, func() { close(held) }
}

// openQuiet posts a streamed chat and returns its lines.
func openQuiet(t *testing.T, url string) *bufio.Reader {
	t.Helper()
	body := string(mustJSON(t, ask("Question", map[string]any{"on_disconnect": "continue", "metadata": map[string]any{"run_id": "quiet"}})))
	response, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return bufio.NewReader(response.Body)
}

func TestKeepalivesKeepAQuietStreamOpenThroughAProxyThatClosesIdleOnes(t *testing.T) {
	t.Parallel()
	s, release := quiet(t, "100ms")
	lines := openQuiet(t, s.proxied())
	released := false
	for alive := 0; ; {
		line, err := lines.ReadString('\n')
		switch {
		case err != nil:
			t.Fatalf("the stream broke after %d keepalives: %v", alive, err)
		case line == "data: [DONE]\n":
			return
		case line == ": keepalive\n":
			alive++
		}
		if alive == 40 && !released { // four seconds of silence, twice what the proxy bears
			released = true
			release()
		}
	}
}

// TestAProxyThatClosesIdleStreamsDoesSoWithoutKeepalives shows that the proxy of the test before is one.
func TestAProxyThatClosesIdleStreamsDoesSoWithoutKeepalives(t *testing.T) {
	t.Parallel()
	s, release := quiet(t, "10m")
	raw, _ := io.ReadAll(openQuiet(t, s.proxied()))
	if text := string(raw); strings.Contains(text, "[DONE]") {
		t.Errorf("the proxy let a quiet stream live: %s", text)
	}
	release()
	s.awaitStatus("quiet", "completed")
}

// TestAStreamOutlivesEveryTimeoutOfTheServer is quiet for longer than the server waits for a header or a write.
func TestAStreamOutlivesEveryTimeoutOfTheServer(t *testing.T) {
	t.Parallel()
	s, release := quiet(t, "1s")
	lines := openQuiet(t, s.url)
	<-time.After(12 * time.Second)
	release()
	raw, err := io.ReadAll(lines)
	if text := string(raw); err != nil || strings.Count(text, ": keepalive\n") < 6 || !strings.HasSuffix(text, "event: done\ndata: [DONE]\n\n") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestAStreamIsResumedAfterARestartLongAfterItsRun(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	live := raws(s.stream(ask("Question", map[string]any{"metadata": map[string]any{"run_id": "old"}})).rest())
	s.kill()
	s.run()
	for _, last := range []int{-1, 0, 3, len(live) - 2} {
		resumed := raws(newFrames(t, s.open("GET", "/v1/runs/old/stream", nil, "Last-Event-ID", fmt.Sprint(last)).Body).rest())
		if diff := cmp.Diff(live[last+1:], resumed); diff != "" {
			t.Errorf("after %d (-live +resumed):\n%s", last, diff)
		}
	}
}

// TestAResumingReaderThatLeavesNeverCancels lets a second reader of a chat, and the only one of a background run,
// leave in the middle.
func TestAResumingReaderThatLeavesNeverCancels(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	s := start(t, newModel(t, func(asked) said { <-held; return said{text: "late"} }), "")
	chat := s.stream(ask("Question", map[string]any{"on_disconnect": "cancel", "metadata": map[string]any{"run_id": "chat"}}))
	chat.until("session_start")
	s.request("POST", "/v1/runs", ask("Question", map[string]any{"on_disconnect": "cancel", "metadata": map[string]any{"run_id": "back"}}))
	s.awaitStatus("back", "running")
	for range 3 {
		for _, id := range []string{"chat", "back"} {
			reader := newFrames(t, s.open("GET", "/v1/runs/"+id+"/stream", nil).Body)
			reader.until("session_start")
			_ = reader.body.Close()
		}
	}
	close(held)
	if all := chat.rest(); len(of(all, "session_end")) != 1 {
		t.Errorf("the chat saw %v", kinds(all))
	}
	s.awaitStatus("chat", "completed")
	s.awaitStatus("back", "completed")
}

// TestADisconnectStopsAToolWithinTwoSeconds leaves while a tool hangs whose own deadline is ten seconds.
func TestADisconnectStopsAToolWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	s := startLying(t, newModel(t, queryTheQuestion), "")
	s.awaitReady()
	s.leaveAfter("left", "hang", "tool_call")
	s.await(2*time.Second, func() (bool, string) {
		_, raw := s.request("GET", "/v1/runs/left", nil)
		return s.object(raw)["status"] == "cancelled", fmt.Sprintf("two seconds after its client left: %s", raw)
	})
	s.verifyRun("left", nil)
}

// pendingApprovals lists the calls that wait for a person.
func (s *service) pendingApprovals() []any {
	s.t.Helper()
	_, raw := s.request("GET", "/v1/approvals?status=pending", nil)
	return asList(s.object(raw)["approvals"])
}

func TestAMessageToTheSessionApprovesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, func(a asked) said {
		if a.question() != "bump" {
			return said{text: "understood"}
		}
		return bumpThenAnswer(a)
	}), approvalConfig("60s"))
	session := map[string]any{"session_id": "shared"}
	stream := s.stream(ask("bump", session))
	id := pendingID(t, stream)
	for _, words := range []string{"yes", "approve " + id, "approved: true", "continue"} {
		for _, memory := range []bool{false, true} {
			more := map[string]any{
				"session_id": "shared", "multitask": "parallel", "metadata": map[string]any{"session_memory": memory},
			}
			if all := s.stream(ask(words, more)).rest(); len(of(all, "session_end")) != 1 {
				t.Errorf("%q: %v", words, kinds(all))
			}
		}
		waiting := ask(words, map[string]any{"session_id": "shared", "multitask": "enqueue"})
		if status, raw := s.request("POST", "/v1/runs", waiting); status != 200 {
			t.Errorf("%q behind the run: %d %s", words, status, raw)
		}
	}
	if pending := s.pendingApprovals(); len(pending) != 1 || pending[0].(map[string]any)["request_id"] != id {
		t.Errorf("pending after the messages: %v", pending)
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the tool ran: %v", calls)
	}
	s.request("POST", "/v1/approvals/"+id+"/deny", nil)
	stream.rest()
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the tool ran after a denial: %v", calls)
	}
}

func TestACancelledRunLeavesNoOrphanApprovalAndItsSessionGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("60s"))
	stream := s.stream(ask("bump", map[string]any{"session_id": "shared", "metadata": map[string]any{"run_id": "first"}}))
	orphan := pendingID(t, stream)
	s.request("POST", "/v1/runs/first/cancel", nil)
	stream.rest()
	if pending := s.pendingApprovals(); len(pending) != 0 {
		t.Errorf("orphans: %v", pending)
	}
	if status, raw := s.request("POST", "/v1/approvals/"+orphan+"/approve", nil); status != 409 {
		t.Errorf("approving the orphan: %d %s", status, raw)
	}
	next := s.stream(ask("bump", map[string]any{"session_id": "shared"}))
	s.request("POST", "/v1/approvals/"+pendingID(t, next)+"/approve", nil)
	if all := next.rest(); len(of(all, "session_end")) != 1 {
		t.Errorf("the next run of the session: %v", kinds(all))
	}
	if n := len(received(t, s.oracleLog())); n != 1 {
		t.Errorf("the tool ran %d times, want once", n)
	}
}

// TestACallNobodyWatchesExpiresAndIsNeverAllowed has no stream, no reader and no person.
func TestACallNobodyWatchesExpiresAndIsNeverAllowed(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, bumpThenAnswer), approvalConfig("1s"))
	s.request("POST", "/v1/runs", ask("bump", map[string]any{"metadata": map[string]any{"run_id": "headless"}}))
	s.awaitStatus("headless", "completed")
	_, raw := s.request("GET", "/v1/approvals?run_id=headless", nil)
	all := asList(s.object(raw)["approvals"])
	if len(all) != 1 {
		t.Fatalf("approvals: %s", raw)
	}
	record := all[0].(map[string]any)
	got := []any{record["status"], record["approved"], record["expired"], record["resolution_reason"]}
	if diff := cmp.Diff([]any{"expired", false, true, "approval_timeout"}, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the tool ran: %v", calls)
	}
}
