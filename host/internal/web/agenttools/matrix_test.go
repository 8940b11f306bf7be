package agenttools

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// goodBodies are bodies that routes take, by the end of their path. Others take {}.
func goodBodies() map[string]string {
	call := `{"turn_id":"` + someUUID + `","tool_id":"graph.get_node","input":{"object_id":"` + someUUID + `"},` +
		`"context":null,"object_refs":[],"idempotency_key":"` + someUUID + `"}`
	return map[string]string{
		"/turns": `{"objective":"look"}`, "/calls": call,
		"/prepare": `{"selection_ids":["` + someUUID + `"],"question":"why","exclusions":[],"idempotency_key":"k"}`,
		"/grants": `{"plan_id":"p","input_revision":1,"selected_action_ids":["a"],"decisions":[{"action_id":"a",` +
			`"decision":"AUTHORIZE"}],"exclusions":[],"idempotency_key":"k"}`,
		"/campaigns": `{"grant_id":"g","input_revision":1,"action_ids":["a"],"idempotency_key":"k"}`,
		"/revoke":    `{"grant_id":"g"}`,
	}
}

func bodyFor(path string) string {
	for end, body := range goodBodies() {
		if strings.HasSuffix(path, end) {
			return body
		}
	}
	return "{}"
}

// paths lists the addresses of all routes of one method.
func paths(method string) []string {
	var all []string
	for _, r := range allRoutes() {
		if r.method == method {
			all = append(all, strings.ReplaceAll("/"+strings.Join(r.path, "/"), "{id}", someUUID))
		}
	}
	return all
}

// trespass is a request with one thing wrong.
type trespass struct {
	name   string
	header []string
	body   string // empty = the route's own
	status int
	code   string
}

func TestNothingIsExecutedForAMutationThatIsNotWholeAndFromThePage(t *testing.T) {
	b := opened(t)
	stale := b.cookie
	b.cookie, _, _ = strings.Cut(b.send("GET", <-b.launches, "").header.Get("Set-Cookie"), ";")
	staleToken := b.csrf
	b.csrf = b.session().CSRF
	reject := func(name string, header ...string) trespass {
		return trespass{name, header, "", http.StatusForbidden, "mutation_rejected"}
	}
	mistyped := func(name string, header ...string) trespass {
		return trespass{name, header, "", http.StatusBadRequest, "invalid_request"}
	}
	twice := b.cookie + "; " + b.cookie
	for _, path := range paths(http.MethodPost) {
		for _, c := range []trespass{
			{"another host", []string{"Host", "labfy.example"}, "", 403, "host_rejected"},
			{"another name of this machine", []string{"Host", strings.Replace(b.authority, "127.0.0.1", "localhost", 1)}, "", 403, "host_rejected"},
			{"another port", []string{"Host", "127.0.0.1:1"}, "", 403, "host_rejected"},
			{"a host without its port", []string{"Host", "127.0.0.1"}, "", 403, "host_rejected"},
			reject("no cookie", "Cookie", ""),
			reject("a stale cookie", "Cookie", stale),
			reject("an empty cookie", "Cookie", strings.SplitAfter(b.cookie, "=")[0]),
			reject("the cookie twice", "Cookie", twice),
			reject("two cookies", "Cookie", b.cookie+"; "+stale),
			reject("no origin", "Origin", ""),
			reject("origin null", "Origin", "null"),
			reject("a foreign origin", "Origin", "http://labfy.example"),
			reject("an origin over https", "Origin", "https://"+b.authority),
			reject("an origin with a path", "Origin", "http://"+b.authority+"/"),
			reject("the origin of another port", "Origin", "http://127.0.0.1:1"),
			reject("no token", csrfHeader, ""),
			reject("a wrong token", csrfHeader, "wrong"),
			reject("a stale token", csrfHeader, staleToken),
			mistyped("no type", "Content-Type", ""),
			mistyped("plain text", "Content-Type", "text/plain"),
			mistyped("a form", "Content-Type", "application/x-www-form-urlencoded"),
			mistyped("a type with a parameter", "Content-Type", "application/json; charset=utf-8"),
			mistyped("a type in other letters", "Content-Type", "Application/JSON"),
			{"4097 bytes", nil, `{"objective":"` + strings.Repeat("x", 4081) + `"}`, 413, "body_too_large"},
			{"no JSON", nil, "objective", 400, "invalid_request"},
			{"no object", nil, "[]", 400, "invalid_request"},
			{"a key twice", nil, `{"objective":"a","objective":"b"}`, 400, "invalid_request"},
			{"broken UTF-8", nil, "{\"objective\":\"\xff\"}", 400, "invalid_request"},
			{"two objects", nil, "{}{}", 400, "invalid_request"},
		} {
			body := c.body
			if body == "" {
				body = bodyFor(path)
			}
			got := b.post(path, body, c.header...)
			if code := got.code(t); got.status != c.status || code != c.code {
				t.Errorf("%s with %s: %d %s, want %d %s", path, c.name, got.status, code, c.status, c.code)
			}
			guarded(t, path+" with "+c.name, got)
		}
	}
	if n := b.engine.calls.Load(); n != 0 {
		t.Errorf("the engine heard of %d requests", n)
	}
}

func TestNothingIsReadWithoutTheSession(t *testing.T) {
	b := opened(t)
	stale := b.cookie
	b.cookie, _, _ = strings.Cut(b.send("GET", <-b.launches, "").header.Get("Set-Cookie"), ";")
	for _, path := range append(paths(http.MethodGet), "/", "/app.js", "/nowhere") {
		for _, c := range []trespass{
			{"another host", []string{"Host", "labfy.example"}, "", 403, "host_rejected"},
			{"another host and no cookie", []string{"Host", "labfy.example", "Cookie", ""}, "", 403, "host_rejected"},
			{"no cookie", []string{"Cookie", ""}, "", 401, "session_required"},
			{"a stale cookie", []string{"Cookie", stale}, "", 401, "session_required"},
			{"the cookie twice", []string{"Cookie", b.cookie + "; " + b.cookie}, "", 401, "session_required"},
			{"another cookie", []string{"Cookie", "labfy_session=" + b.cookie}, "", 401, "session_required"},
		} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				got := b.send(method, path, "", append([]string{"Cookie", b.cookie}, c.header...)...)
				if code := got.code(t); got.status != c.status || method == http.MethodGet && code != c.code {
					t.Errorf("%s %s with %s: %d %s, want %d %s", method, path, c.name, got.status, code, c.status, c.code)
				}
				guarded(t, path+" with "+c.name, got)
			}
		}
	}
	if n := b.engine.calls.Load(); n != 0 {
		t.Errorf("the engine heard of %d requests", n)
	}
}

// guarded looks for the headers that every answer has, and for those that none has.
func guarded(t *testing.T, what string, got answer) {
	t.Helper()
	for name, value := range map[string]string{
		"Content-Security-Policy": security, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cache-Control": "no-store", "X-Frame-Options": "DENY",
	} {
		if got.header.Get(name) != value {
			t.Errorf("%s: %s is %q", what, name, got.header.Get(name))
		}
	}
	for name := range got.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s: an answer has %s", what, name)
		}
	}
}

func TestEveryRouteIsReachedByThePage(t *testing.T) {
	b := opened(t)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, path := range paths(method) {
			before := b.engine.calls.Load()
			b.hands.move(30 * time.Millisecond)
			got := b.send(method, path, map[string]string{http.MethodPost: bodyFor(path)}[method], b.proof()...)
			if got.status/100 != 2 {
				t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
			}
			guarded(t, path, got)
			if heard := b.engine.calls.Load() - before; heard != 1 && path != "/api/v1/session" {
				t.Errorf("%s %s: the engine heard of it %d times", method, path, heard)
			}
		}
	}
}

func TestOptionsAllowNobodyAnything(t *testing.T) {
	b := opened(t)
	ask := []string{"Origin", "http://labfy.example", "Access-Control-Request-Method", "POST"}
	for _, path := range append(paths(http.MethodPost), "/") {
		got := b.send(http.MethodOptions, path, "", ask...)
		if code := got.code(t); got.status != 403 || code != "mutation_rejected" {
			t.Errorf("OPTIONS %s: %d %s", path, got.status, code)
		}
		guarded(t, path, got)
	}
	b.hands.move(time.Second)
	if got := b.send(http.MethodOptions, "/api/v1/research/grants", "", b.proof()...); got.status != 405 {
		t.Errorf("the page's own OPTIONS: %d", got.status)
	}
	star := b.raw("OPTIONS * HTTP/1.1\r\nHost: " + b.authority + "\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(star, "HTTP/1.1 403 ") {
		t.Errorf("OPTIONS *: %s", star)
	}
}

func TestTheChecksComeInTheOrderOfTheContract(t *testing.T) {
	b := opened(t)
	const path = "/api/v1/research/nowhere"
	large := strings.Repeat("x", 5000)
	b.post(path, large) // the pace is used up
	faults := []string{"Host", "labfy.example", "Cookie", "", "Content-Type", "text/plain"}
	for _, step := range []struct {
		code   string
		mended int           // faults that are left out
		wait   time.Duration // before it
		path   string
		body   string
	}{
		{"host_rejected", 0, 0, path, large},
		{"mutation_rejected", 2, 0, path, large},
		{"rate_limited", 4, 0, path, large},
		{"route_unknown", 4, time.Second, path, large},
		{"invalid_request", 4, time.Second, "/api/v1/research/prepare", large},
		{"body_too_large", 6, time.Second, "/api/v1/research/prepare", large},
		{"invalid_request", 6, time.Second, "/api/v1/research/prepare?x=1", "x"},
		{"research_invalid", 6, time.Second, "/api/v1/research/prepare?x=1", "{}"},
	} {
		b.hands.move(step.wait)
		got := b.send("POST", step.path, step.body, append(b.proof(), faults[step.mended:]...)...)
		if code := got.code(t); code != step.code {
			t.Errorf("with %d faults mended: %d %s, want %s", step.mended/2, got.status, code, step.code)
		}
	}
	if got := b.send("GET", "/nowhere?x=1", "body", "Cookie", ""); got.code(t) != "session_required" {
		t.Errorf("reading without a session: %d", got.status)
	}
}
