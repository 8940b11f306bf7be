package console_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/host/internal/web/console"
)

func serve(t *testing.T, cfg web.Config) *httptest.Server {
	t.Helper()
	page, err := console.New()
	if err != nil {
		t.Fatal(err)
	}
	entrance, err := web.New(cfg, page)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(entrance)
	t.Cleanup(server.Close)
	return server
}

// ask sends a request and follows no redirect.
func ask(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(raw)
}

func lockedConfig() web.Config {
	return web.Config{Auth: web.AuthServiceToken, ServiceToken: standInToken}
}

func TestEveryFileOfThePageIsServedToEverybodyUnderAStrictPolicy(t *testing.T) {
	server := serve(t, lockedConfig())
	var files []string
	for _, folder := range []string{"page", "../parts"} {
		found, err := filepath.Glob(folder + "/*")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", folder, err)
		}
		files = append(files, found...)
	}
	types := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml",
	}
	for _, file := range files {
		path := "/ui/" + strings.TrimSuffix(filepath.Base(file), "index.html")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		response, body := ask(t, "GET", server.URL+path, "")
		header := response.Header
		if response.StatusCode != 200 || body != string(text) {
			t.Errorf("%s: %d, %d bytes", path, response.StatusCode, len(body))
		}
		want := map[string]string{
			"Content-Type":    types[filepath.Ext(file)],
			"Cache-Control":   "no-cache",
			"Nosniff":         "nosniff",
			"Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
				"img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; " +
				"require-trusted-types-for 'script'; trusted-types 'none'",
		}
		got := map[string]string{"Nosniff": header.Get("X-Content-Type-Options")}
		for name := range want {
			if name != "Nosniff" {
				got[name] = header.Get(name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestACopyThatIsStillRightIsNotSentAgain(t *testing.T) {
	server := serve(t, web.Config{})
	first, _ := ask(t, "GET", server.URL+"/ui/app.js", "")
	again, body := ask(t, "GET", server.URL+"/ui/app.js", "", "If-None-Match", first.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("the second time: %d %q", again.StatusCode, body)
	}
	other, _ := ask(t, "GET", server.URL+"/ui/style.css", "", "If-None-Match", first.Header.Get("ETag"))
	if other.StatusCode != 200 {
		t.Errorf("another file with that tag: %d", other.StatusCode)
	}
}

func TestOnlyThePageStandsUnderUI(t *testing.T) {
	server := serve(t, web.Config{})
	got := map[string]int{}
	for _, request := range []string{
		"GET /ui", "HEAD /ui/", "POST /ui/", "GET /ui/index.html", "GET /ui/console.go", "GET /ui/../ui/app.js",
		"GET /ui//app.js", "GET /ui/page/app.js", "GET /ui/%2e%2e/app.js", "GET /",
	} {
		method, path, _ := strings.Cut(request, " ")
		response, _ := ask(t, method, server.URL+path, "")
		got[request] = response.StatusCode
	}
	want := map[string]int{
		"GET /ui": 308, "HEAD /ui/": 200, "POST /ui/": 405, "GET /ui/index.html": 404, "GET /ui/console.go": 404,
		"GET /ui/../ui/app.js": 404, "GET /ui//app.js": 404, "GET /ui/page/app.js": 404, "GET /ui/%2e%2e/app.js": 404,
		"GET /": 404,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	response, _ := ask(t, "GET", server.URL+"/ui", "")
	if response.Header.Get("Location") != "/ui/" {
		t.Errorf("/ui leads to %q", response.Header.Get("Location"))
	}
}

// stampless replaces what differs from run to run.
func stampless(t *testing.T, raw string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(raw), &object); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	for key, value := range object {
		if text, is := value.(string); is && key != "user_key" && text != "/ui/" {
			object[key] = len(text)
		}
	}
	return object
}

func TestTheWayIntoThePageIsSpokenAsWritten(t *testing.T) {
	server := serve(t, lockedConfig())
	response, raw := ask(t, "POST", server.URL+"/v1/ui/codes", `{"user_key":"pska:ann"}`, web.TokenHeader, standInToken)
	want := map[string]any{"code": 26, "path": len("/ui/#code=") + 26, "expires_at": 20}
	if diff := cmp.Diff(want, stampless(t, raw)); diff != "" || response.StatusCode != 201 {
		t.Fatalf("code: %d (-want +got):\n%s", response.StatusCode, diff)
	}
	var made struct{ Code string }
	if err := json.Unmarshal([]byte(raw), &made); err != nil {
		t.Fatal(err)
	}
	response, _ = ask(t, "POST", server.URL+"/ui/session", `{"code":"`+made.Code+`"}`, "Origin", server.URL)
	if response.StatusCode != 204 || response.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("login: %d %v", response.StatusCode, response.Header)
	}
	cookie, _, _ := strings.Cut(response.Header.Get("Set-Cookie"), ";")
	_, raw = ask(t, "GET", server.URL+"/v1/ui/session", "", "Cookie", cookie)
	if diff := cmp.Diff(map[string]any{"session": true, "user_key": "pska:ann", "expires_at": 20}, stampless(t, raw)); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	response, _ = ask(t, "DELETE", server.URL+"/ui/session", "", "Cookie", cookie, "Origin", server.URL)
	if response.StatusCode != 204 || !strings.Contains(response.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout: %d %v", response.StatusCode, response.Header)
	}
	if response, _ = ask(t, "GET", server.URL+"/v1/ui/session", "", "Cookie", cookie); response.StatusCode != 401 {
		t.Errorf("session behind its end: %d", response.StatusCode)
	}
}

func TestWhereNobodyIsAskedThereIsNothingToLogInTo(t *testing.T) {
	server := serve(t, web.Config{})
	_, raw := ask(t, "POST", server.URL+"/v1/ui/codes", "")
	if diff := cmp.Diff(map[string]any{"code": nil, "path": "/ui/", "expires_at": nil}, stampless(t, raw)); diff != "" {
		t.Errorf("code (-want +got):\n%s", diff)
	}
	_, raw = ask(t, "GET", server.URL+"/v1/ui/session", "")
	if diff := cmp.Diff(map[string]any{"session": false, "user_key": nil, "expires_at": nil}, stampless(t, raw)); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
}

func TestALoginWithoutACodeIsRefused(t *testing.T) {
	server := serve(t, lockedConfig())
	got := map[string]int{}
	for _, body := range []string{"", "{}", `{"code":""}`, `{"code":5}`, `{"code":"` + strings.Repeat("x", 200) + `"}`, "[]"} {
		response, _ := ask(t, "POST", server.URL+"/ui/session", body, "Origin", server.URL)
		got[body[:min(len(body), 12)]] = response.StatusCode
	}
	want := map[string]int{"": 422, "{}": 422, `{"code":""}`: 401, `{"code":5}`: 422, `{"code":"xxx`: 422, "[]": 422}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
