package agenttools

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheLaunchAddressLeadsToThePageWithACookie(t *testing.T) {
	b := newBench(t)
	launch := <-b.launches
	if !strings.HasPrefix(launch, "http://"+b.authority+"/?launch=") || len(launch) < 60 {
		t.Fatalf("launch address: %q", launch)
	}
	got := b.send("GET", launch, "")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/" || got.body != "" {
		t.Fatalf("%d to %q: %s", got.status, got.header.Get("Location"), got.body)
	}
	guarded(t, "the launch", got)
	b.cookie, _, _ = strings.Cut(got.header.Get("Set-Cookie"), ";")
	document := b.session()
	name, token, _ := strings.Cut(b.cookie, "=")
	want := "labfy_session_" + document.InstanceID[:12] + "=" + token + "; HttpOnly; SameSite=Strict; Path=/; Max-Age=3600"
	if diff := cmp.Diff([]string{want}, got.header.Values("Set-Cookie")); diff != "" || len(token) < 32 || len(name) != 26 {
		t.Error(diff)
	}
}

func TestTheSessionSaysWhatThePageNeeds(t *testing.T) {
	b := opened(t)
	got := b.session()
	active := "harbour"
	want := sessionDocument{
		Contract: "labfy.workspace.session.v1", CSRF: got.CSRF, Origin: "http://" + b.authority, WorkspaceState: "READY",
		ActiveWorkspaceID: &active, Workspaces: []string{"harbour", "observatory"}, InstanceID: got.InstanceID,
		ExpiresAt: "2026-03-04T06:06:07Z",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.CSRF) < 32 || len(got.InstanceID) != 32 {
		t.Error(diff)
	}
	if strings.Contains(b.cookie, got.CSRF) {
		t.Error("the token is the cookie")
	}
}

func TestWithoutAnActiveWorkspaceTheSessionSaysSo(t *testing.T) {
	b := opened(t)
	b.engine.idle = true
	got := b.get("/api/v1/session").body
	if !strings.Contains(got, `"workspace_state":"EMPTY","active_workspace_id":null,`) {
		t.Error(got)
	}
	b.get("/api/v1/research")
	if diff := cmp.Diff([]any{"snapshot", ""}, *b.engine.heard.Load()); diff != "" {
		t.Error(diff)
	}
}

func TestALaunchKeyWorksOnceAndThenOnlyForItsOwnSession(t *testing.T) {
	b := newBench(t)
	launch := <-b.launches
	if got := b.open(launch); got.status != http.StatusSeeOther {
		t.Fatalf("first: %d", got.status)
	}
	cookie := b.cookie
	for _, stranger := range []string{"", "labfy_session=x", cookie + "x", cookie + "; " + cookie} {
		got := b.send("GET", launch, "", "Cookie", stranger)
		if got.status != 403 || got.code(t) != "launch_rejected" || got.header.Get("Set-Cookie") != "" {
			t.Errorf("a stranger with %q: %d %s", stranger, got.status, got.body)
		}
	}
	if got := b.get("/api/v1/session"); got.status != 200 {
		t.Errorf("strangers ended the session: %d", got.status)
	}
	if got := b.open(launch); got.status != http.StatusSeeOther || b.cookie == cookie {
		t.Errorf("again: %d", got.status)
	}
}

func TestOpeningAgainMakesOldCookieAndTokenStale(t *testing.T) {
	b := newBench(t)
	launch := <-b.launches
	b.open(launch)
	for _, again := range []string{launch, <-b.launches} {
		cookie, token := b.cookie, b.csrf
		b.open(again)
		if token == b.csrf || cookie == b.cookie {
			t.Fatal("nothing rotated")
		}
		if got := b.send("GET", "/api/v1/session", "", "Cookie", cookie); got.status != 401 {
			t.Errorf("old cookie: %d", got.status)
		}
		if got := b.post("/api/v1/agent-tools/turns", `{"objective":"x"}`, csrfHeader, token); got.status != 403 {
			t.Errorf("old token: %d", got.status)
		}
		if got := b.post("/api/v1/agent-tools/turns", `{"objective":"x"}`); got.status != 201 {
			t.Errorf("new cookie and token: %d %s", got.status, got.body)
		}
	}
}

func TestOnlyTheRightKeyOpensASession(t *testing.T) {
	b := newBench(t)
	launch := <-b.launches
	at, key, _ := strings.Cut(launch, "=")
	for _, wrong := range []string{
		at + "=", at + "=" + key[1:], at + "=" + key + "x", launch + "&launch=" + key, launch + "&x=1", at + "=x&launch=" + key,
		launch + "&%zz",
	} {
		if got := b.send("GET", wrong, ""); got.status != 403 || got.code(t) != "launch_rejected" {
			t.Errorf("%s: %d %s", wrong, got.status, got.body)
		}
	}
	for _, other := range []string{"HEAD", "POST"} {
		if got := b.send(other, launch, ""); got.status == http.StatusSeeOther {
			t.Errorf("%s used the key", other)
		}
	}
	if got := b.send("GET", launch, "", "Host", "labfy.example"); got.code(t) != "host_rejected" {
		t.Errorf("another host: %d", got.status)
	}
	if got := b.open(launch); got.status != http.StatusSeeOther {
		t.Errorf("the right key then: %d", got.status)
	}
}

func TestOfManyWhoUseALaunchKeyOneGetsIn(t *testing.T) {
	b := newBench(t)
	launch := <-b.launches
	statuses := make([]int, 20)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() { statuses[i] = b.send("GET", launch, "").status })
	}
	all.Wait()
	got := map[int]int{}
	for _, status := range statuses {
		got[status]++
	}
	if diff := cmp.Diff(map[int]int{303: 1, 403: 19}, got); diff != "" {
		t.Error(diff)
	}
}

func TestASessionEndsAfterItsTimeHoweverOftenItIsUsed(t *testing.T) {
	b := newBench(t)
	launch := <-b.launches
	b.open(launch)
	for range 59 {
		b.hands.move(time.Minute)
		if got := b.get("/api/v1/session"); got.status != 200 {
			t.Fatalf("while it lasts: %d", got.status)
		}
	}
	b.hands.move(time.Minute)
	if got := b.get("/api/v1/session"); got.code(t) != "session_required" {
		t.Errorf("reading: %d", got.status)
	}
	if got := b.post("/api/v1/agent-tools/turns", `{"objective":"x"}`); got.code(t) != "mutation_rejected" {
		t.Errorf("changing: %d", got.status)
	}
	if got := b.open(launch); got.code(t) != "launch_rejected" {
		t.Errorf("the used address: %d", got.status)
	}
	if got := b.open(<-b.launches); got.status != http.StatusSeeOther {
		t.Errorf("the newest address: %d", got.status)
	}
}

func TestSomebodyWithoutASessionIsToldHowToGetOne(t *testing.T) {
	b := newBench(t)
	got := b.send("GET", "/", "", "Accept", "text/html,*/*")
	if got.status != 401 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
		t.Errorf("a browser: %d %s", got.status, got.header.Get("Content-Type"))
	}
	guarded(t, "a browser", got)
	stale := b.send("GET", "/?launch=stale", "", "Accept", "text/html,*/*")
	if stale.status != 403 || stale.body != got.body {
		t.Errorf("a browser with a stale address: %d %s", stale.status, stale.body)
	}
	guarded(t, "a browser with a stale address", stale)
	if got := b.send("GET", "/", ""); got.code(t) != "session_required" {
		t.Errorf("others: %d", got.status)
	}
	b.open(<-b.launches)
	got = b.get("/")
	if got.status != 200 || !strings.Contains(got.body, "<html") {
		t.Errorf("with a session: %d", got.status)
	}
	guarded(t, "the page", got)
}

func TestAClosedFaceServesNobody(t *testing.T) {
	face, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if face.at() != "" || face.checkHost(&http.Request{}) == nil {
		t.Error("a face that is not open takes an empty host")
	}
}

func TestAConfiguredAuthorityIsTheOnlyOne(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.Authority = "tools.localhost:8081" })
	launch := <-b.launches
	if !strings.HasPrefix(launch, "http://tools.localhost:8081/?launch=") {
		t.Errorf("announced %q", launch)
	}
	path := strings.TrimPrefix(launch, "http://tools.localhost:8081")
	if got := b.send("GET", path, ""); got.code(t) != "host_rejected" {
		t.Errorf("the bound address: %d", got.status)
	}
	if got := b.send("GET", path, "", "Host", "tools.localhost:8081"); got.status != http.StatusSeeOther {
		t.Errorf("the authority: %d", got.status)
	}
}

func TestNobodySaysThePortThatBrowsersLeaveOut(t *testing.T) {
	for bound, want := range map[string]string{
		"127.0.0.1:80": "127.0.0.1", "127.0.0.1:8080": "127.0.0.1:8080", "[::1]:80": "[::1]",
	} {
		if got := asBrowsersSayIt(bound); got != want {
			t.Errorf("%s: %s", bound, got)
		}
	}
}
