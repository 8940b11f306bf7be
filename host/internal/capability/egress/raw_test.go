package egress

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// rawWorld is a network whose only server writes what the test says, whatever it is asked.
func rawWorld(t *testing.T, says string) *Broker {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					_, _ = conn.Write([]byte(says))
				}
			}()
		}
	}()
	return New(Config{
		Timeout: 2 * time.Second,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Connect: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, listener.Addr().String())
		},
	})
}

func TestAnswerThatIsWrittenOddlyIsReadInOneWayOrRefused(t *testing.T) {
	secret := canary
	for name, c := range map[string]struct {
		says string
		code Code
		body string
	}{
		"two lengths that differ":       {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello", Unreachable, ""},
		"chunks and a length":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "", "hello"},
		"an encoding that nobody knows": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", Unreachable, ""},
		"no header at all":              {"hello", Unreachable, ""},
		"a secret in the first line":    {"HTTP/1.1 200 " + secret + "\r\nContent-Length: 2\r\n\r\nok", "", "ok"},
		"a secret instead of a status":  {"HTTP/1.1 " + secret + "\r\n\r\n", Unreachable, ""},
		"a secret in a folded header":   {"HTTP/1.1 200 OK\r\nA: x\r\n " + secret + "\r\nContent-Length: 0\r\n\r\n", SecretInResponse, ""},
		"a secret as a header's name":   {"HTTP/1.1 200 OK\r\ncanary-secret-value: /4711\r\nContent-Length: 2\r\n\r\nok", "", "ok"},
		"a secret in a trailer":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n2\r\nok\r\n0\r\nA: " + secret + "\r\n\r\n", "", "ok"},
		"another protocol":              {"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", BadResponse, ""},
		"early answers without end":     {strings.Repeat("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", 100_000), TooLarge, ""},
		"a body that is cut":            {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", Unreachable, ""},
		"a chunk that is too long":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello", Unreachable, ""},
	} {
		broker := rawWorld(t, c.says)
		vault := NewVault([]Secret{{Name: "token", Value: secret, Hosts: []string{"api.example"}}}, nil)
		grants, err := NewGrants([]sdk.HTTPAccess{plain("api.example")})
		if err != nil {
			t.Fatal(err)
		}
		session := broker.Session(Policy{Grants: grants, Vault: vault, Limits: limits()})
		answer, err := session.Send(t.Context(), sdk.HTTPRequest{URL: "http://api.example/"})
		session.Close()
		if codeOf(err) != c.code || string(answer.Body) != c.body {
			t.Errorf("%s: %q, %v", name, answer.Body, err)
		}
		if shown := fmt.Sprint(answer); strings.Contains(shown, secret) {
			t.Errorf("%s: the answer shows it: %s", name, shown)
		}
	}
}
