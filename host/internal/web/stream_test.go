package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// streaming is a face whose only route runs play on an open stream.
func streaming(play func(*Stream) error) Face {
	return Face{Routes: []Route{{Method: "GET", Path: "/stream", Handle: func(x *Exchange) error {
		s := x.Stream()
		if err := s.Open(); err != nil {
			return err
		}
		return play(s)
	}}}}
}

// dial opens the stream on a bare connection and reads nothing.
func dial(t *testing.T, url string) net.Conn {
	t.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET /stream HTTP/1.1\r\nHost: %s\r\n\r\n", host); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestFramesAreTheseBytes(t *testing.T) {
	server := serve(t, Config{}, streaming(func(s *Stream) error {
		return errors.Join(
			s.Send(7, "think", map[string]string{"a": "x\ny\u0085"}), s.KeepAlive(),
			s.SendUnnumbered("status", map[string]string{"code": "A"}), s.Done(),
		)
	}))
	response, err := http.Get(server.URL + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := "id: 7\nevent: think\ndata: {\"a\":\"x\\ny\\u0085\"}\n\n: keepalive\n\n" +
		"event: status\ndata: {\"code\":\"A\"}\n\nevent: done\ndata: [DONE]\n\n"
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
	} {
		if diff := cmp.Diff(want, response.Header.Get(key)); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}

func TestAStreamedConnectionServesTheNextRequest(t *testing.T) {
	server := serve(t, Config{WriteTimeout: 30 * time.Millisecond}, streaming(func(s *Stream) error { return s.Done() }))
	passed := time.NewTimer(60 * time.Millisecond)
	for range 2 {
		response, err := http.Get(server.URL + "/stream")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		<-passed.C
		passed.Reset(0)
	}
}

func TestASlowReaderIsDroppedButHasNotLeft(t *testing.T) {
	result := make(chan error, 1)
	var connection context.Context
	server := serve(t, Config{WriteTimeout: 50 * time.Millisecond}, streaming(func(s *Stream) error {
		connection = s.Connection()
		var err error
		for id := int64(0); err == nil; id++ {
			err = s.Send(id, "think", strings.Repeat("x", 1<<20))
		}
		result <- err
		return err
	}))
	dial(t, server.URL)
	if err := <-result; !errors.Is(err, ErrSlow) {
		t.Errorf("the writer saw %v", err)
	}
	server.Close() // waits for the handler and the connection
	if connection.Err() != nil {
		t.Error("a slow reader counts as gone")
	}
}

func TestAReaderThatClosesHasLeft(t *testing.T) {
	for name, chunk := range map[string]int{"while idle": 1, "while a write is blocked": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			begun, left := make(chan struct{}), make(chan struct{})
			server := serve(t, Config{WriteTimeout: time.Minute}, streaming(func(s *Stream) error {
				close(begun)
				err := s.Send(0, "think", strings.Repeat("x", chunk))
				<-s.Connection().Done()
				close(left)
				return err
			}))
			conn := dial(t, server.URL)
			<-begun
			_ = conn.Close()
			select {
			case <-left:
			case <-time.After(time.Minute): // to mask 8 MiB takes seconds under the race detector
				t.Error("nobody noticed")
			}
		})
	}
}

// TestTheServersOwnTimeoutsDoNotSilenceAStream gives the server a limit for reading and writing a whole exchange, as a
// deployment may, and a stream that lives several times as long.
func TestTheServersOwnTimeoutsDoNotSilenceAStream(t *testing.T) {
	handler, err := New(Config{}, streaming(func(s *Stream) error {
		tick := time.NewTicker(40 * time.Millisecond)
		defer tick.Stop()
		for id := range int64(8) {
			<-tick.C
			if err := s.Send(id, "think", "still here"); err != nil {
				return err
			}
		}
		return s.Done()
	}))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ReadTimeout, server.Config.WriteTimeout = 100*time.Millisecond, 100*time.Millisecond
	server.Start()
	defer server.Close()
	response, err := http.Get(server.URL + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || strings.Count(string(raw), "still here") != 8 || !strings.HasSuffix(string(raw), "[DONE]\n\n") {
		t.Errorf("%v: %q", err, raw)
	}
}
