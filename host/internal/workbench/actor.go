package workbench

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// handshake is the first byte of a TLS connection.
const handshake = 22

// mostVisit is how long a connection may stay, whoever forgot it.
const mostVisit = time.Minute

// serve answers one request on a connection, in TLS or plain as the guest's side begins.
func (s *stage) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(mostVisit)) // a pipe always takes one
	reader := bufio.NewReader(conn)
	first, err := reader.Peek(1)
	if err != nil {
		return // it was not needed after all
	}
	scheme, stream := "http", net.Conn(peeked{conn, reader})
	if first[0] == handshake {
		scheme = "https"
		stream = tls.Server(stream, &tls.Config{GetCertificate: s.authority.certify, MinVersion: tls.VersionTLS12})
		reader = bufio.NewReader(stream)
	}
	request, err := http.ReadRequest(reader)
	if err != nil {
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	said := s.answer(scheme, request, string(body))
	response := http.Response{
		StatusCode: said.Status, ProtoMajor: 1, ProtoMinor: 1, Request: request, Close: true, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(said.Body)), ContentLength: int64(len(said.Body)),
	}
	for name, value := range said.Headers {
		response.Header.Set(name, value)
	}
	var text bytes.Buffer
	if response.Write(&text) == nil {
		_, _ = stream.Write(text.Bytes()) // whoever left early has ended the call
	}
}

// peeked is a connection whose first bytes were read ahead.
type peeked struct {
	net.Conn
	reader *bufio.Reader
}

// Read implements net.Conn.
func (p peeked) Read(into []byte) (int, error) { return p.reader.Read(into) }

// answer plays the next recording, when the request is the one that it wants.
func (s *stage) answer(scheme string, request *http.Request, body string) RecordedResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := fmt.Sprintf("%s %s", request.Method, plainURL(scheme+"://"+request.Host+request.RequestURI))
	if s.next == len(s.script) {
		s.unmet = append(s.unmet, "http: nothing is recorded for "+sent)
		return RecordedResponse{Status: http.StatusInternalServerError, Body: "nothing is recorded for this request"}
	}
	recorded := s.script[s.next]
	s.next++
	for _, line := range recorded.Request.differences(sent, request.Header, body) {
		s.unmet = append(s.unmet, fmt.Sprintf("http[%d] %s", s.next-1, line))
	}
	if recorded.Response.Status == 0 {
		recorded.Response.Status = http.StatusOK
	}
	return recorded.Response
}

// differences lists what is not as recorded.
func (r RecordedRequest) differences(sent string, headers http.Header, body string) []string {
	var lines []string
	differ := func(what, want, got string) {
		if want != got {
			lines = append(lines, fmt.Sprintf("%s: want %s, got %s", what, show(want), show(got)))
		}
	}
	method, address, _ := strings.Cut(sent, " ")
	if r.Method != "" {
		differ("method", r.Method, method)
	}
	if r.URL != "" {
		differ("url", plainURL(r.URL), address)
	}
	for name, value := range r.Headers {
		differ("header "+name, value, headers.Get(name))
	}
	if r.Body != nil {
		differ("body", *r.Body, body)
	}
	return lines
}

// plainURL writes a URL without a port that is the scheme's own, and with a path.
func plainURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
