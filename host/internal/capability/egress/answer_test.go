package egress

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func TestSecretThatTheServerReflectsIsNotShown(t *testing.T) {
	quoted, _ := json.Marshal("<" + canary + ">")
	reflections := map[string]string{
		"as it is":         "you sent " + canary + "!",
		"base64":           base64.StdEncoding.EncodeToString([]byte(canary)),
		"base64, shifted":  base64.StdEncoding.EncodeToString([]byte("Bearer " + canary + " and more")),
		"base64, by two":   base64.URLEncoding.EncodeToString([]byte("12" + canary + "3")),
		"in a query":       "?a=" + url.QueryEscape(canary),
		"all percent":      percent(canary),
		"hexadecimal":      hex.EncodeToString([]byte(canary)),
		"in JSON":          string(quoted),
		"in JSON, escaped": strings.ReplaceAll(canary, "/", `\/`),
		"all of JSON":      unicodeEscaped(canary),
		"in HTML":          strings.ReplaceAll(canary, "/", "&#x2f;"),
	}
	everyWay(t, func(t *testing.T, out way) {
		for name, text := range reflections {
			w := newWorld(t, func(answer http.ResponseWriter, _ *http.Request) {
				half := len(text) / 2
				_, _ = io.WriteString(answer, text[:half])
				_ = http.NewResponseController(answer).Flush()
				_, _ = io.WriteString(answer, text[half:])
			})
			got, err := out.get(w, w.grants(plain("api.example")), "http://api.example/")
			if codeOf(err) != SecretInResponse || strings.Contains(got, text) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	})
}

func TestSecretInTheHeaderOfAnAnswerIsNotShown(t *testing.T) {
	everyWay(t, func(t *testing.T, out way) {
		w := newWorld(t, func(answer http.ResponseWriter, _ *http.Request) { answer.Header().Set("X-Echo", "got "+canary) })
		if _, err := out.get(w, w.grants(plain("api.example")), "http://api.example/"); codeOf(err) != SecretInResponse {
			t.Error(err)
		}
	})
}

func percent(text string) string {
	var out strings.Builder
	for i := range len(text) {
		out.WriteString("%" + hex.EncodeToString([]byte{text[i]}))
	}
	return out.String()
}

func unicodeEscaped(text string) string {
	var out strings.Builder
	for i := range len(text) {
		out.WriteString(`\u00` + hex.EncodeToString([]byte{text[i]}))
	}
	return out.String()
}

func TestHeaderBombIsRefused(t *testing.T) {
	everyWay(t, func(t *testing.T, out way) {
		w := newWorld(t, func(answer http.ResponseWriter, _ *http.Request) {
			answer.Header().Set("X-Bomb", strings.Repeat("a", 128<<10))
		})
		if _, err := out.get(w, w.grants(plain("api.example")), "http://api.example/"); codeOf(err) != TooLarge {
			t.Error(err)
		}
	})
}

// send makes one request of a guest.
func (w *world) send(policy Policy, request sdk.HTTPRequest) (sdk.HTTPResponse, error) {
	w.Helper()
	session := w.broker.Session(policy)
	defer session.Close()
	return session.Send(w.Context(), request)
}

func TestAnswerBeyondTheCallsBytesIsRefused(t *testing.T) {
	w := newWorld(t, func(answer http.ResponseWriter, _ *http.Request) { _, _ = answer.Write(make([]byte, 4096)) })
	for bytes, want := range map[int64]Code{4096: TooLarge, 8192: "", 0: TooLarge} {
		policy := Policy{Grants: w.grants(plain("api.example")), Limits: Limits{Requests: 1, Bytes: bytes}}
		if _, err := w.send(policy, sdk.HTTPRequest{URL: "http://api.example/"}); codeOf(err) != want {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
}

func TestBytesOfAllRequestsOfACallCountTogether(t *testing.T) {
	w := newWorld(t, func(answer http.ResponseWriter, _ *http.Request) { _, _ = answer.Write(make([]byte, 4096)) })
	session := w.broker.Session(Policy{Grants: w.grants(plain("api.example")), Limits: Limits{Requests: 9, Bytes: 10 << 10}})
	defer session.Close()
	var codes []Code
	for range 3 {
		_, err := session.Send(t.Context(), sdk.HTTPRequest{URL: "http://api.example/"})
		codes = append(codes, codeOf(err))
	}
	if diff := cmp.Diff([]Code{"", "", TooLarge}, codes); diff != "" {
		t.Error(diff)
	}
}

func TestPackedAnswerCountsUnpacked(t *testing.T) {
	w := newWorld(t, func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Content-Encoding", "br")
		_, _ = answer.Write([]byte("packed"))
	})
	policy := Policy{Grants: w.grants(plain("api.example")), Limits: limits()}
	if _, err := w.send(policy, sdk.HTTPRequest{URL: "http://api.example/"}); codeOf(err) != BadResponse {
		t.Error(err)
	}
}

func TestRequestsBeyondTheirNumberAreRefused(t *testing.T) {
	w := newWorld(t, hello)
	session := w.broker.Session(Policy{Grants: w.grants(plain("api.example")), Limits: Limits{Requests: 2, Bytes: 1 << 20}})
	defer session.Close()
	var codes []Code
	for range 3 {
		_, err := session.Send(t.Context(), sdk.HTTPRequest{URL: "http://api.example/"})
		codes = append(codes, codeOf(err))
	}
	if diff := cmp.Diff([]Code{"", "", TooMany}, codes); diff != "" {
		t.Error(diff)
	}
}

func TestMethodThatIsNotGrantedIsRefused(t *testing.T) {
	w := newWorld(t, hello)
	policy := Policy{Grants: w.grants(sdk.HTTPAccess{Scheme: "http", Host: "api.example"}), Limits: limits()}
	for method, want := range map[string]Code{"": "", "GET": "", "HEAD": "", "POST": NotGranted, "get": NotGranted, "G ET": BadRequest} {
		if _, err := w.send(policy, sdk.HTTPRequest{URL: "http://api.example/", Method: method}); codeOf(err) != want {
			t.Errorf("%q: %v", method, err)
		}
	}
}

func TestHeadersOfTheConnectionAreNotForAGuestToSet(t *testing.T) {
	w := newWorld(t, hello)
	policy := Policy{Grants: w.grants(plain("api.example")), Limits: limits()}
	for name, value := range map[string]string{
		"Host": "evil", "host": "evil", "Content-Length": "5", "Transfer-Encoding": "chunked", "Connection": "close",
		"Accept-Encoding": "br", "X-A": "a\r\nHost: evil", "X A": "b", "": "c", "X-Nul": "\x00",
	} {
		if _, err := w.send(policy, sdk.HTTPRequest{URL: "http://api.example/", Header: map[string]string{name: value}}); codeOf(err) != BadRequest {
			t.Errorf("%q: %v", name, err)
		}
	}
	if hits := w.hits.Load(); hits > 0 {
		t.Errorf("%d were sent", hits)
	}
}

func TestMoreHeadersThanAllowedAreRefused(t *testing.T) {
	w := newWorld(t, hello)
	policy := Policy{Grants: w.grants(plain("api.example")), Limits: limits()}
	many := map[string]string{}
	for i := range maxHeaders + 1 {
		many["X-"+strings.Repeat("a", i+1)] = "b"
	}
	for _, header := range []map[string]string{many, {"X-Long": strings.Repeat("a", maxHeaderBytes)}} {
		if _, err := w.send(policy, sdk.HTTPRequest{URL: "http://api.example/", Header: header}); codeOf(err) != BadRequest {
			t.Error(err)
		}
	}
}

// TestServerThatDripsEndsAtTheDeadline runs in a bubble: no time passes.
func TestServerThatDripsEndsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker, stop := dripping(t)
		defer stop()
		grants, err := NewGrants([]sdk.HTTPAccess{plain("93.184.215.14")})
		if err != nil {
			t.Fatal(err)
		}
		session := broker.Session(Policy{Grants: grants, Limits: limits()})
		defer session.Close()
		began := time.Now()
		_, err = session.Send(t.Context(), sdk.HTTPRequest{URL: "http://93.184.215.14/"})
		if codeOf(err) != Timeout || time.Since(began) != 30*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestEndOfTheCallEndsItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker, stop := dripping(t)
		defer stop()
		grants, err := NewGrants([]sdk.HTTPAccess{plain("93.184.215.14")})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		session := broker.Session(Policy{Grants: grants, Limits: limits()})
		defer session.Close()
		began := time.Now()
		if _, err := session.Send(ctx, sdk.HTTPRequest{URL: "http://93.184.215.14/"}); codeOf(err) != Timeout || time.Since(began) != time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
