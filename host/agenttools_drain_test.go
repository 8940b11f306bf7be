package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/run"
)

// TestAClientThatDawdlesDoesNotKeepTheLocalAgentGoing: the drain waits for a request that is under way, and ends the
// turns meanwhile.
func TestAClientThatDawdlesDoesNotKeepTheLocalAgentGoing(t *testing.T) {
	announced := make(chan string, 2)
	s := withTools(t, func(o *Options) { o.Announce = func(address string) { announced <- address } })
	listener, err := s.listenTools()
	if err != nil {
		t.Fatal(err)
	}
	served, drained := make(chan error, 1), make(chan struct{})
	go func() { served <- s.serveTools(t.Context(), listener) }()
	dawdler := dawdle(t, listener.Addr().String(), <-announced)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		defer close(drained)
		s.drainTools(ctx)
	}()
	awaitEnd(t, s)
	fmt.Fprint(dawdler, "}")
	answer, err := http.ReadResponse(bufio.NewReader(dawdler), nil)
	if err != nil {
		t.Fatalf("the request that was under way: %v", err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), `"agent_tool_invalid"`) {
		t.Errorf("the request that was under way was not read to its end: %s, %v", text, err)
	}
	<-drained
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// awaitEnd waits until the local agent takes no turn any more.
func awaitEnd(t *testing.T, s *Server) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for range again.C {
		var why *run.Error
		if _, err := s.tools.runtime.Start(t.Context(), "anything", ""); errors.As(err, &why) && why.Code == localagent.CodeClosed {
			return
		}
	}
}

// dawdle opens a session and begins a request of which the last byte is missing. The service waits for it.
func dawdle(t *testing.T, authority, launch string) net.Conn {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	opened, err := client.Get(launch)
	if err != nil || len(opened.Cookies()) != 1 {
		t.Fatalf("open a session: %v", err)
	}
	_ = opened.Body.Close()
	cookie := opened.Cookies()[0].Name + "=" + opened.Cookies()[0].Value
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+authority+"/api/v1/session", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cookie", cookie)
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var session struct {
		CSRF string `json:"csrf"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&session); err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", authority)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	fmt.Fprintf(connection, "POST /api/v1/agent-tools/turns HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nOrigin: http://%[1]s\r\n"+
		"X-Labfy-CSRF: %[3]s\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", authority, cookie, session.CSRF)
	waits := "HTTP/1.1 100 Continue\r\n\r\n"
	read := make([]byte, len(waits))
	if _, err := connection.Read(read); err != nil || string(read) != waits {
		t.Fatalf("the service says %q, %v", read, err)
	}
	fmt.Fprint(connection, "{")
	return connection
}
