package blackbox

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// patient is a model, or another source, that keeps whoever asks for "hold" waiting, and says when it was left.
type patient struct {
	asked, left chan string
	release     chan struct{}
}

func newPatient() *patient {
	return &patient{make(chan string, 100), make(chan string, 100), make(chan struct{})}
}

// hold waits until the one that asks is gone, or everybody is let go; gone says which.
func (p *patient) hold(r *http.Request, what string) (gone bool) {
	_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that somebody is gone
	p.asked <- what
	select {
	case <-r.Context().Done():
		p.left <- what
		return true
	case <-p.release:
		return false
	}
}

// model is a scripted model that holds every question with the word "hold model".
func (p *patient) model(t *testing.T, answer func(asked) said) *scriptedModel {
	t.Helper()
	m := &scriptedModel{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := m.take(r)
		if strings.Contains(a.opening(), "hold model") && p.hold(r, a.opening()) {
			return
		}
		stream(w, answer(a))
	}))
	t.Cleanup(m.Close)
	return m
}

// await returns the next word of a channel; it fails when none comes in time.
func await(t *testing.T, from chan string, limit time.Duration, what string) string {
	t.Helper()
	select {
	case word := <-from:
		return word
	case <-time.After(limit):
		t.Fatalf("%s did not come within %v", what, limit)
	}
	return ""
}

// leaver is a client that can be gone without a word.
type leaver struct {
	*frames
	connection net.Conn
	run        string
}

// enters opens a stream over a connection of its own.
func (s *service) enters(path, body string) *leaver {
	s.t.Helper()
	address := strings.TrimPrefix(s.url, "http://")
	connection, err := net.Dial("tcp", address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = connection.Close() })
	fmt.Fprintf(connection, "POST %s HTTP/1.0\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, address, len(body), body)
	return &leaver{frames: newFrames(s.t, connection), connection: connection}
}

// begun reads the head of the answer and the metadata.
func (l *leaver) begun() *leaver {
	l.t.Helper()
	for {
		line, err := l.reader.ReadString('\n')
		if err != nil {
			l.t.Fatalf("no stream: %v", err)
		}
		if line == "\r\n" {
			break
		}
	}
	l.run, _ = l.until("metadata")[0].json(l.t)["run_id"].(string)
	return l
}

// breaks ends the connection as a crash does: the next write of the service fails.
func (l *leaver) breaks() {
	_ = l.connection.(*net.TCPConn).SetLinger(0)
	_ = l.connection.Close()
}

// expectCancelled demands that a run ended because its client left.
func (s *service) expectCancelled(id string) {
	s.t.Helper()
	run := s.stored(id)
	_, events := s.request("GET", "/v1/runs/"+id+"/events", nil)
	if run["status"] != "cancelled" || !strings.Contains(string(events), "CLIENT_DISCONNECT") {
		s.t.Errorf("run %s is %v\n%s", id, run["status"], events)
	}
	for _, kind := range []string{`"session_end"`, `"stop_reason":"stop"`} {
		if strings.Contains(string(events), kind) {
			s.t.Errorf("run %s has an answer: %s", id, events)
		}
	}
}

// TestAClientThatLeavesTakesExactlyItsRunWithIt leaves in each phase of a run while another run goes on.
func TestAClientThatLeavesTakesExactlyItsRunWithIt(t *testing.T) {
	t.Parallel()
	p := newPatient()
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.hold(r, "metrics") {
			return
		}
		_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
	}))
	defer metrics.Close()
	model := p.model(t, func(a asked) said {
		if strings.Contains(a.opening(), "hold tool") && len(a.toolResults()) == 0 {
			return call("query_metrics", `{"query":"up"}`)
		}
		return deskModel(a)
	})
	more := fmt.Sprintf("harness: {chat: {evidence: {prometheus: {url: %q}, logs: {roots: [%q]}}}}\n", metrics.URL, logFolder(t))
	s := start(t, model, loading(t, "guard", ", limits: {wall: 60s, gas: 1000000000000}")+more)

	bystander := s.enters("/api/chat", `{"query":"Diagnose hold model bystander: true"}`).begun()
	await(t, p.asked, 20*time.Second, "the bystander's question")
	for name, query := range map[string]string{
		"Disconnect during model work": "Diagnose hold model: true", "during a tool": "Diagnose hold tool: true",
	} {
		for how, leave := range map[string]func(*leaver){
			"closed": func(l *leaver) { _ = l.connection.Close() }, "broken": (*leaver).breaks,
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				s := s.in(t)
				l := s.enters("/api/chat", fmt.Sprintf(`{"query":%q}`, query)).begun()
				await(t, p.asked, 20*time.Second, "the question")
				leave(l)
				await(t, p.left, 2*time.Second, "the end of the work")
				s.expectCancelled(l.run)
			})
		}
	}
	t.Run("during a guard", func(t *testing.T) {
		s := s.in(t)
		l := s.enters("/api/chat", `{"query":"Diagnose checkout: spin"}`).begun()
		for all := ""; !strings.Contains(all, "VERIFYING"); {
			f, ok := l.next()
			if !ok {
				t.Fatalf("the stream ended: %s", all)
			}
			all += f.raw
		}
		l.breaks()
		began := time.Now()
		s.expectCancelled(l.run)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the guard went on for %v", took)
		}
	})
	t.Run("ai_ops", func(t *testing.T) {
		s := s.in(t)
		l := s.enters("/api/ai_ops", `{"alert":"hold model"}`).begun()
		await(t, p.asked, 20*time.Second, "the question")
		l.breaks()
		await(t, p.left, 2*time.Second, "the end of the work")
		s.expectCancelled(l.run)
	})
	close(p.release)
	if all := bystander.rest(); len(of(all, "done")) != 1 || !strings.Contains(all[len(all)-1].raw, "SUCCESS") {
		t.Errorf("the run beside them: %v", kinds(all))
	}
}

// queues sends more questions than a worker with one place to wait in takes, and returns the one that waits, with the
// first line of its answer to come.
func (s *service) queues(query string) (waiting *leaver, line chan string) {
	s.t.Helper()
	type answer struct {
		of   *leaver
		line string
	}
	answers, open := make(chan answer), map[*leaver]chan string{}
	for range 8 {
		l := s.enters("/api/chat", fmt.Sprintf(`{"query":%q}`, query))
		late := make(chan string, 1)
		open[l] = late
		go func() {
			line, _ := l.reader.ReadString('\n')
			late <- line
			answers <- answer{l, line}
		}()
	}
	for len(open) > 1 {
		select {
		case a := <-answers:
			if delete(open, a.of); !strings.Contains(a.line, " 503 ") {
				s.t.Errorf("beyond what may wait: %q", a.line)
			}
		case <-time.After(20 * time.Second):
			s.t.Fatalf("%d of 8 questions wait, want 1\n%s", len(open), s.output)
		}
	}
	go func() { <-answers }()
	for waiting, line = range open {
	}
	return waiting, line
}

// TestAClientThatLeavesBeforeItsRunIsThereLeavesNoneBehind is the seed's "Disconnect before Run control publication": it
// leaves while it waits for a worker.
func TestAClientThatLeavesBeforeItsRunIsThereLeavesNoneBehind(t *testing.T) {
	t.Parallel()
	p := newPatient()
	s := start(t, p.model(t, deskModel), harnessing(t, ", worker: {size: 1, queue: 1}"))
	first := s.enters("/api/chat", `{"query":"Diagnose hold model first: true"}`).begun()
	await(t, p.asked, 20*time.Second, "the first question")
	second, _ := s.queues("Diagnose hold model second: true")
	second.breaks()
	// The service has seen it leave when the place in the queue is free again, or soon after the worker is.
	close(p.release)
	if all := first.rest(); len(of(all, "done")) != 1 {
		t.Errorf("the first: %v", kinds(all))
	}
	third := s.chats("Diagnose third: true")
	if third.order() != orderOfReport {
		t.Errorf("the third: %s", third.order())
	}
	for _, id := range s.runIDs() {
		if id != first.run && id != third.run() {
			s.expectCancelled(id) // there at the moment when it was taken up, and gone the next
		}
	}
}

// TestAStreamThatIsOpenTooLongCountsAsAClientThatLeft lets a stream wait for a worker until little of its time is left.
func TestAStreamThatIsOpenTooLongCountsAsAClientThatLeft(t *testing.T) {
	t.Parallel()
	p := newPatient()
	s := start(t, p.model(t, deskModel), harnessing(t, ", worker: {size: 1, queue: 4}, run_timeout: 3s, stream_timeout: 4s"))
	first := make(chan string, 1)
	go func() {
		response, err := http.Post(s.url+"/api/chat", "application/json", strings.NewReader(`{"query":"Diagnose hold model one: true"}`))
		if err != nil {
			first <- err.Error()
			return
		}
		defer response.Body.Close()
		raw, _ := io.ReadAll(response.Body)
		first <- string(raw)
	}()
	await(t, p.asked, 20*time.Second, "the first question")
	second := s.enters("/api/chat", `{"query":"Diagnose hold model two: true"}`).begun()
	all := second.rest()
	if raw := await(t, first, 20*time.Second, "the end of the first"); !strings.Contains(raw, `"code":"CHAT_TIMEOUT"`) || !strings.Contains(raw, `"outcome":"FAILED"`) {
		t.Errorf("a run that takes too long: %s", raw)
	}
	if names := kinds(all); slices.Contains(names, "done") || slices.Contains(names, "failure") || slices.Contains(names, "content") {
		t.Errorf("a stream that was open too long: %v", names)
	}
	s.expectCancelled(second.run)
}
