package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const token = "service-token-of-the-test"

// echo is a face that answers what it was asked.
func echo() Face {
	return Face{Routes: []Route{
		{Method: "GET", Path: "/open", Public: true, Handle: func(x *Exchange) error { return x.JSON(200, "open") }},
		{Method: "GET", Path: "/things/{id}", Handle: func(x *Exchange) error { return x.JSON(200, x.Var("id")) }},
		{Method: "POST", Path: "/things", Handle: func(x *Exchange) error {
			object, err := x.Object()
			if err != nil {
				return err
			}
			return x.JSON(200, object)
		}},
		{Method: "GET", Path: "/panic", Handle: func(*Exchange) error { panic("a bug") }},
		{Method: "GET", Path: "/fail", Handle: func(*Exchange) error { return io.ErrUnexpectedEOF }},
	}}
}

func serve(t *testing.T, cfg Config, faces ...Face) *httptest.Server {
	t.Helper()
	if len(faces) == 0 {
		faces = []Face{echo()}
	}
	handler, err := New(cfg, faces...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// ask sends a request and returns the status and the error code of the answer.
func ask(t *testing.T, server *httptest.Server, method, path, body string, header ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			request.Host = header[i+1]
			continue
		}
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Detail any `json:"detail"`
		Error  struct{ Code, Message string }
	}
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode >= 400 {
		if err := json.Unmarshal(raw, &answer); err != nil || answer.Detail == nil || answer.Error.Message == "" {
			t.Fatalf("%s %s: error body %s (%v)", method, path, raw, err)
		}
	}
	return response.StatusCode, answer.Error.Code
}

func TestOnlyKnownHostsAndOriginsAreServed(t *testing.T) {
	server := serve(t, Config{})
	bound := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := net.SplitHostPort(bound)
	for _, c := range []struct{ host, origin, want string }{
		{bound, "", ""},
		{"localhost:" + port, "", ""},
		{"LocalHost:" + port, "", ""},
		{"[::1]:" + port, "", ""},
		{"localhost", "", "host_not_allowed"},
		{"localhost:1", "", "host_not_allowed"},
		{"evil.example:" + port, "", "host_not_allowed"},
		{bound, "http://" + bound, ""},
		{bound, "http://localhost:" + port, ""},
		{bound, "https://evil.example", "origin_not_allowed"},
		{bound, "http://localhost:1", "origin_not_allowed"},
		{bound, "null", "origin_not_allowed"},
		{bound, "file://" + bound, "origin_not_allowed"},
		{bound, "http://" + bound + ".evil.example", "origin_not_allowed"},
	} {
		header := []string{"Host", c.host}
		if c.origin != "" {
			header = append(header, "Origin", c.origin)
		}
		status, code := ask(t, server, "GET", "/open", "", header...)
		if code != c.want || (code != "") != (status == 403) {
			t.Errorf("Host %q Origin %q: %d %q, want %q", c.host, c.origin, status, code, c.want)
		}
	}
}

func TestConfiguredAuthoritiesReplaceTheBoundAddress(t *testing.T) {
	server := serve(t, Config{Authorities: []string{"Agent.Example", "other.example:8080"}})
	for _, c := range []struct{ host, origin, want string }{
		{"agent.example", "", ""},
		{"agent.example:9999", "", ""},
		{"agent.example", "https://agent.example", ""},
		{"agent.example", "https://agent.example:1", "origin_not_allowed"},
		{"other.example:8080", "", ""},
		{"other.example:8081", "", "host_not_allowed"},
		{strings.TrimPrefix(server.URL, "http://"), "", "host_not_allowed"},
	} {
		header := []string{"Host", c.host}
		if c.origin != "" {
			header = append(header, "Origin", c.origin)
		}
		if _, code := ask(t, server, "GET", "/open", "", header...); code != c.want {
			t.Errorf("Host %q Origin %q: %q, want %q", c.host, c.origin, code, c.want)
		}
	}
}

func TestTheServiceTokenOpensEveryRouteThatIsNotPublic(t *testing.T) {
	server := serve(t, Config{ServiceToken: token})
	for _, c := range []struct {
		name   string
		path   string
		header []string
		want   int
	}{
		{"public", "/open", nil, 200},
		{"none", "/things/1", nil, 401},
		{"bearer", "/things/1", []string{"Authorization", "Bearer " + token}, 200},
		{"lower case scheme", "/things/1", []string{"Authorization", "bearer " + token}, 200},
		{"header", "/things/1", []string{TokenHeader, token}, 200},
		{"wrong", "/things/1", []string{TokenHeader, token + "x"}, 401},
		{"prefix", "/things/1", []string{TokenHeader, token[:5]}, 401},
		{"empty", "/things/1", []string{"Authorization", "Bearer "}, 401},
		{"basic", "/things/1", []string{"Authorization", "Basic " + token}, 401},
		{"both", "/things/1", []string{TokenHeader, token, "Authorization", "Bearer " + token}, 200},
		{"differing", "/things/1", []string{TokenHeader, token, "Authorization", "Bearer other"}, 401},
	} {
		if status, _ := ask(t, server, "GET", c.path, "", c.header...); status != c.want {
			t.Errorf("%s: %d, want %d", c.name, status, c.want)
		}
	}
}

func TestWithoutATokenNobodyIsAskedForOne(t *testing.T) {
	if status, _ := ask(t, serve(t, Config{}), "GET", "/things/1", "", "Authorization", "Bearer sk-whatever"); status != 200 {
		t.Errorf("status %d", status)
	}
}

func TestTokenModeWithoutATokenRefusesToStart(t *testing.T) {
	if _, err := New(Config{Auth: AuthServiceToken}); err == nil {
		t.Error("it started")
	}
}

// spent is a throttle of which a key has used up what it may. The key waits a second and a half for more.
func spent(key string) *Throttle {
	now := time.Now()
	throttle := NewThrottle(Rate{PerMinute: 40, Burst: 1}, 10, func() time.Time { return now })
	throttle.Take(key)
	return throttle
}

// The checks have one order; each request here breaks a rule and all that come after it.
func TestTheFirstBrokenRuleIsTheOneThatIsTold(t *testing.T) {
	server := serve(t, Config{ServiceToken: token, MaxBody: 20, Limit: spent(newSecret(token).name())})
	large, broken := strings.Repeat("x", 21), "{"
	for _, c := range []struct {
		name, body string
		header     []string
		status     int
		code       string
	}{
		{"host", large, []string{"Host", "evil.example", "Origin", "null"}, 403, "host_not_allowed"},
		{"origin", large, []string{"Origin", "null"}, 403, "origin_not_allowed"},
		{"size", large, nil, 413, "request_too_large"},
		{"type", broken, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		{"authentication", broken, nil, 401, "unauthorized"},
		{"rate", broken, []string{TokenHeader, token}, 429, "rate_limited"},
	} {
		status, code := ask(t, server, "POST", "/things", c.body, c.header...)
		if status != c.status || code != c.code {
			t.Errorf("%s: %d %q, want %d %q", c.name, status, code, c.status, c.code)
		}
	}
}

func TestABodyOfUnknownLengthIsCutWhileItIsRead(t *testing.T) {
	server := serve(t, Config{MaxBody: 20})
	body := io.MultiReader(strings.NewReader(`{"a":"`), strings.NewReader(strings.Repeat("x", 100)+`"}`))
	response, err := http.Post(server.URL+"/things", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", response.StatusCode)
	}
}

func TestMutationsAreJSON(t *testing.T) {
	server := serve(t, Config{})
	for media, want := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "text/plain": 415,
		"application/x-www-form-urlencoded": 415, "": 415, "application/jsonp": 415, "multipart/form-data": 415,
	} {
		if status, _ := ask(t, server, "POST", "/things", "{}", "Content-Type", media); status != want {
			t.Errorf("%q: %d, want %d", media, status, want)
		}
	}
	if status, _ := ask(t, server, "POST", "/things", ""); status != 200 {
		t.Errorf("empty body: %d", status)
	}
}

func TestUnknownPathsAndMethodsAreAnsweredInTheSameShape(t *testing.T) {
	server := serve(t, Config{})
	if status, code := ask(t, server, "GET", "/nowhere", ""); status != 404 || code != "not_found" {
		t.Errorf("path: %d %q", status, code)
	}
	response, err := http.Post(server.URL+"/things/1", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 405 || response.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("method: %d, Allow %q", response.StatusCode, response.Header.Get("Allow"))
	}
}

func TestHEADIsGETWithoutTheBody(t *testing.T) {
	server := serve(t, Config{ServiceToken: token})
	for _, c := range []struct {
		path, length string
		status       int
	}{{"/open", "6", 200}, {"/fail", "", 401}, {"/things", "", 405}, {"/nowhere", "", 404}} {
		response, body := head(t, server.URL+c.path)
		if response.StatusCode != c.status || body != "" || c.length != "" && response.Header.Get("Content-Length") != c.length {
			t.Errorf("%s: %d %q %v", c.path, response.StatusCode, body, response.Header)
		}
	}
}

func TestAStreamHasNoHEAD(t *testing.T) {
	stream := Route{Method: "GET", Path: "/stream", Stream: true, Handle: func(*Exchange) error { panic("was asked") }}
	response, _ := head(t, serve(t, Config{}, Face{Routes: []Route{stream}}).URL+"/stream")
	if response.StatusCode != 405 || response.Header.Get("Allow") != "GET" {
		t.Errorf("%d, Allow %q", response.StatusCode, response.Header.Get("Allow"))
	}
}

// head asks with HEAD and returns the answer and its body.
func head(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	response, err := http.Head(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestPanicsAndUnknownErrorsAreInternal(t *testing.T) {
	server := serve(t, Config{})
	for _, path := range []string{"/panic", "/fail"} {
		if status, code := ask(t, server, "GET", path, ""); status != 500 || code != "internal_error" {
			t.Errorf("%s: %d %q", path, status, code)
		}
	}
}

func TestOneRouteCannotBeRegisteredTwice(t *testing.T) {
	if _, err := New(Config{}, echo(), echo()); err == nil {
		t.Error("it was")
	}
}

func TestRetryAfterIsWholeSecondsRoundedUp(t *testing.T) {
	server := serve(t, Config{Limit: spent("address 127.0.0.1")})
	response, err := http.Get(server.URL + "/things/1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if diff := cmp.Diff("2", response.Header.Get("Retry-After")); diff != "" {
		t.Error(diff)
	}
}

func TestTheTokenLeavesInNoAnswer(t *testing.T) {
	server := serve(t, Config{ServiceToken: token})
	body := fmt.Sprintf(`{"plain":"%[1]s","inside":"{\"a\":\"%[1]s\"}","%[1]s":1}`, token)
	request, err := http.NewRequest("POST", server.URL+"/things", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(TokenHeader, token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	line, _ := bufio.NewReader(response.Body).ReadString('\n')
	want := `{"inside":"{\"a\":\"[redacted]\"}","plain":"[redacted]","[redacted]":1}`
	if diff := cmp.Diff(want, line); diff != "" {
		t.Error(diff)
	}
}

// TestABodyThatNeverComesIsNotWaitedFor announces a body and sends none of it, with and without a credential.
func TestABodyThatNeverComesIsNotWaitedFor(t *testing.T) {
	server := serve(t, Config{ServiceToken: token, BodyTimeout: 50 * time.Millisecond})
	for credential, want := range map[string]string{"Authorization: Bearer " + token: "408", "X: y": "401"} {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		fmt.Fprintf(connection, "POST /things HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{", server.Listener.Addr(), credential)
		_ = connection.SetReadDeadline(time.Now().Add(5 * time.Second))
		answer, err := io.ReadAll(connection) // the server hangs up
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+want) {
			t.Errorf("%s: %v %s", credential, err, answer)
		}
	}
}

// TestAStreamOutlivesTheWaitForTheBody holds a stream open for longer than a body may take.
func TestAStreamOutlivesTheWaitForTheBody(t *testing.T) {
	server := serve(t, Config{BodyTimeout: 20 * time.Millisecond}, Face{Routes: []Route{{
		Method: "POST", Path: "/stream", Handle: func(x *Exchange) error {
			if _, err := x.Object(); err != nil {
				return err
			}
			stream := x.Stream()
			if err := stream.Open(); err != nil {
				return err
			}
			select {
			case <-stream.Connection().Done():
				return nil
			case <-time.After(100 * time.Millisecond):
			}
			return stream.Done()
		},
	}}})
	response, err := http.Post(server.URL+"/stream", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if all, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(all), "[DONE]") {
		t.Errorf("%v %q", err, all)
	}
}

// shaped is a face whose refusals have a shape of their own.
func shaped() Face {
	return Face{
		Shape: func(r *Refusal) any { return refusalBody{"own", errorBody{Code: "own " + r.Code, Message: r.Sentence}} },
		Routes: []Route{
			{Method: "POST", Path: "/shaped", Handle: func(x *Exchange) error {
				x.Bound(4)
				if _, err := x.Object(); err != nil {
					return err
				}
				return x.Nothing()
			}},
			{Method: "GET", Path: "/shaped/panic", Handle: func(*Exchange) error { panic("a bug") }},
		},
	}
}

func TestAFaceShapesEveryRefusalOnItsPaths(t *testing.T) {
	server := serve(t, Config{ServiceToken: token, MaxBody: 8}, echo(), shaped())
	bearer := []string{"Authorization", "Bearer " + token}
	for _, c := range []struct {
		method, path, body string
		header             []string
		status             int
		code               string
	}{
		{"POST", "/shaped", "", nil, 401, "own unauthorized"},
		{"PUT", "/shaped", "", bearer, 405, "own method_not_allowed"},
		{"POST", "/shaped", `{"a": 1}`, bearer, 413, "own request_too_large"},
		{"POST", "/shaped", `{"a": 123}`, bearer, 413, "own request_too_large"},
		{"GET", "/shaped/panic", "", bearer, 500, "own internal_error"},
		{"GET", "/shaped/nowhere", "", bearer, 404, "not_found"},
		{"GET", "/fail", "", bearer, 500, "internal_error"},
	} {
		if status, code := ask(t, server, c.method, c.path, c.body, c.header...); status != c.status || code != c.code {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, status, code, c.status, c.code)
		}
	}
	request, err := http.NewRequest("POST", server.URL+"/shaped", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Errorf("a request of two bytes: %d", response.StatusCode)
	}
}

func TestAnAnswerToTryAgainLaterIsLoggedAsAWarning(t *testing.T) {
	for status, want := range map[int]string{http.StatusServiceUnavailable: "level=WARN", http.StatusInternalServerError: "level=ERROR"} {
		var log bytes.Buffer
		refusing := Face{Routes: []Route{{Method: "GET", Path: "/no", Public: true, Handle: func(*Exchange) error {
			return &Refusal{Status: status, Code: "saturated", Sentence: "Later"}
		}}}}
		ask(t, serve(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, refusing), "GET", "/no", "")
		if !strings.Contains(log.String(), want) {
			t.Errorf("status %d: %q has no %s", status, log.String(), want)
		}
	}
}
