package egress

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

const (
	maxHeaders     = 64
	maxHeaderBytes = 32 << 10 // of one request, names and values
)

// forbidden lists headers that belong to the connection, or that would change who is spoken to or how answers are
// packed.
func forbidden() []string {
	return []string{
		"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive",
		"Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}
}

// draft is a request on its way: checked as a guest wrote it, with no secret in it yet.
type draft struct {
	method string
	at     target
	url    *url.URL
	header map[string]string
	body   []byte
}

// check refuses a request that is none, and reads its URL.
func check(r sdk.HTTPRequest) (draft, error) {
	d := draft{method: r.Method, header: map[string]string{}, body: r.Body}
	if d.method == "" {
		d.method = http.MethodGet
	}
	total := 0
	for name, value := range r.Header {
		canonical := http.CanonicalHeaderKey(name)
		_, twice := d.header[canonical]
		switch {
		case twice || !isToken(name) || strings.ContainsAny(value, "\r\n\x00"):
			return draft{}, refuse(BadRequest, "A header's name or value is none, or its name stands there twice.")
		case slices.Contains(forbidden(), canonical):
			return draft{}, refuse(BadRequest, "The header %s is not for a guest to set.", canonical)
		}
		d.header[canonical] = value
		total += len(name) + len(value)
	}
	switch {
	case !isToken(d.method):
		return draft{}, refuse(BadRequest, "The method is none.")
	case len(d.header) > maxHeaders || total > maxHeaderBytes:
		return draft{}, refuse(BadRequest, "There are more than %d headers or %d bytes of them.", maxHeaders, maxHeaderBytes)
	}
	var err error
	if d.at, d.url, err = parseURL(r.URL); err != nil {
		return draft{}, err
	}
	if namesSecret(d.url.Path) || namesSecret(d.url.EscapedPath()) {
		return draft{}, refuse(BadURL, "A secret may stand in the query, the headers and the body only.")
	}
	return d, nil
}

func isToken(text string) bool {
	const others = "!#$%&'*+-.^_`|~"
	return text != "" && len(text) <= 256 && strings.IndexFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune(others, r)
	}) < 0
}

// size is what a request costs of a call's bytes.
func (d draft) size() int64 {
	total := len(d.url.String()) + len(d.body)
	for name, value := range d.header {
		total += len(name) + len(value)
	}
	return int64(total)
}

// showsSecret reports whether the guest wrote a value itself. It cannot know one honestly.
func (d draft) showsSecret(v Vault) bool {
	if v.shows(d.url.String(), string(d.body)) {
		return true
	}
	for name, value := range d.header {
		if v.shows(name, value) {
			return true
		}
	}
	return false
}

// fill makes the request that is sent, with the values of the secrets that may go to its target.
func (d draft) fill(ctx context.Context, v Vault) (*http.Request, error) {
	out := *d.url
	var err error
	if out.RawQuery, err = v.expand(out.RawQuery, d.at, url.QueryEscape); err != nil {
		return nil, err
	}
	body, err := v.expand(string(d.body), d.at, bodyEscape(d.header["Content-Type"]))
	if err != nil {
		return nil, err
	}
	request := (&http.Request{
		Method: d.method, URL: &out, Host: out.Host, Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	for name, value := range d.header {
		if value, err = v.expand(value, d.at, plainly); err != nil {
			return nil, err
		}
		request.Header.Set(name, value)
	}
	if request.Header.Get("User-Agent") == "" {
		request.Header.Set("User-Agent", "fastreact")
	}
	if len(body) > 0 {
		request.Body, request.ContentLength = http.NoBody, int64(len(body))
		request.Body = newBody([]byte(body))
	}
	return request, nil
}

// bodyEscape returns how a value is written into a body of a kind.
func bodyEscape(contentType string) func(string) string {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && media == "application/x-www-form-urlencoded":
		return url.QueryEscape
	case err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")):
		return func(value string) string {
			text, _ := json.Marshal(value) // text cannot fail
			return string(text[1 : len(text)-1])
		}
	}
	return plainly
}

// body is a request's body in memory.
type body struct{ *bytes.Reader }

func newBody(text []byte) body { return body{bytes.NewReader(text)} }

// Close does nothing.
func (body) Close() error { return nil }
