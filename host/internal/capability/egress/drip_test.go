package egress

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

// dripping returns a broker whose every connection ends at a server that sends a byte a second, without end.
func dripping(t *testing.T) (broker *Broker, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	return New(Config{Connect: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go drip(ctx, theirs)
		return ours, nil
	}}), cancel
}

func drip(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
		}
	}
}
