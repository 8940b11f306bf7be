package web

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lobby is a face with the ways into the page, one route that a session opens and some that none does.
func lobby() Face {
	who := func(x *Exchange) error {
		_, session := x.PageSession()
		return x.JSON(200, map[string]any{
			"standing": x.Caller.Standing, "user": x.Caller.UserKey, "tenant": x.Caller.TenantKey,
			"provider": x.Caller.Provider, "session": session,
		})
	}
	return Face{Routes: []Route{
		{Method: "GET", Path: "/read", Page: true, Handle: who},
		{Method: "POST", Path: "/write", Page: true, Handle: who},
		{Method: "GET", Path: "/other", Handle: who},
		{Method: "POST", Path: "/other", Handle: who},
		{Method: "POST", Path: "/admin", Admin: true, Handle: who},
		{Method: "POST", Path: "/codes/{user}", Handle: func(x *Exchange) error {
			user := x.Var("user")
			if user == "anyone" {
				user = ""
			}
			code, err := x.PageCode(user)
			if err != nil {
				return err
			}
			return x.JSON(200, code)
		}},
		{Method: "POST", Path: "/login/{code}", Public: true, Handle: func(x *Exchange) error {
			if err := x.LogIn(x.Var("code")); err != nil {
				return err
			}
			return x.JSON(200, "in")
		}},
		{Method: "POST", Path: "/logout", Public: true, Handle: func(x *Exchange) error {
			if err := x.LogOut(); err != nil {
				return err
			}
			return x.JSON(200, "out")
		}},
	}}
}

// visitor is a browser at a service that wants a token.
type visitor struct {
	t      *testing.T
	server *httptest.Server
	cookie string
}

func (v *visitor) send(method, path string, header ...string) (*http.Response, string) {
	v.t.Helper()
	request, err := http.NewRequest(method, v.server.URL+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	if v.cookie != "" {
		request.Header.Set("Cookie", pageCookie+"="+v.cookie)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return response, string(raw)
}

// own sends what the page itself would send.
func (v *visitor) own(method, path string) (int, string) {
	v.t.Helper()
	response, raw := v.send(method, path, "Origin", v.server.URL, "Sec-Fetch-Site", "same-origin")
	return response.StatusCode, raw
}

// code asks for a code as the holder of the service token.
func (v *visitor) code(user string) string {
	v.t.Helper()
	anon := visitor{t: v.t, server: v.server}
	_, raw := anon.send("POST", "/codes/"+user, TokenHeader, token)
	var made PageCode
	if err := json.Unmarshal([]byte(raw), &made); err != nil || made.Code == "" {
		v.t.Fatalf("no code: %s", raw)
	}
	return made.Code
}

// logIn uses a code and keeps the cookie.
func (v *visitor) logIn(code string) *http.Cookie {
	v.t.Helper()
	response, raw := v.send("POST", "/login/"+code, "Origin", v.server.URL, "Sec-Fetch-Site", "same-origin")
	if response.StatusCode != 200 {
		v.t.Fatalf("login: %d %s", response.StatusCode, raw)
	}
	cookie := response.Cookies()[0]
	v.cookie = cookie.Value
	return cookie
}

func atTheDoor(t *testing.T, page PageConfig) *visitor {
	return &visitor{t: t, server: serve(t, Config{Auth: AuthServiceToken, ServiceToken: token, AdminToken: "admin-token-of-the-test", Page: page}, lobby())}
}

// statuses sends several requests of the page and returns what came.
func (v *visitor) statuses(requests ...string) (got []int) {
	v.t.Helper()
	for _, request := range requests {
		method, path, _ := strings.Cut(request, " ")
		status, _ := v.own(method, path)
		got = append(got, status)
	}
	return got
}

func want(t *testing.T, got, wanted any) {
	t.Helper()
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
}

func TestASessionOpensTheRoutesForPagesAndNoOthers(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	want(t, v.statuses("GET /read", "POST /write"), []int{401, 401})
	v.logIn(v.code("anyone"))
	want(t, v.statuses("GET /read", "POST /write", "GET /other", "POST /other", "POST /admin", "POST /codes/anyone"),
		[]int{200, 200, 401, 401, 401, 401})
}

func TestASessionSpeaksAsTheTokenDoesButAdministersNothing(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	v.logIn(v.code("anyone"))
	_, raw := v.own("GET", "/read")
	want(t, raw, `{"provider":"ui_session","session":true,"standing":`+strconv.Itoa(int(Everybody))+`,"tenant":"","user":""}`)
}

func TestASessionForAUserIsThatUser(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	v.logIn(v.code("pska:ann"))
	_, raw := v.own("GET", "/read")
	want(t, raw, `{"provider":"ui_session","session":true,"standing":`+strconv.Itoa(int(User))+`,"tenant":"pska","user":"pska:ann"}`)
	response, _ := v.send("GET", "/read", UserHeader, "pska:bob")
	want(t, response.StatusCode, 403)
}

func TestABlockedUserHasNoSession(t *testing.T) {
	server := serve(t, Config{Auth: AuthServiceToken, ServiceToken: token, Guests: Guests{BlockUsers: []string{"pska:ann"}}}, lobby())
	v := &visitor{t: t, server: server}
	v.logIn(v.code("pska:ann"))
	want(t, v.statuses("GET /read"), []int{403})
}

func TestACodeWorksOnce(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	code := v.code("anyone")
	v.logIn(code)
	want(t, v.statuses("POST /login/"+code, "GET /read"), []int{401, 200})
}

func TestACodeThatIsTooOldDoesNotWork(t *testing.T) {
	now := time.Now()
	v := atTheDoor(t, PageConfig{CodeTTL: time.Minute, Clock: func() time.Time { return now }})
	code := v.code("anyone")
	now = now.Add(time.Minute)
	want(t, v.statuses("POST /login/"+code), []int{401})
}

func TestACodeIsLongAndRandom(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	first, second := v.code("anyone"), v.code("anyone")
	if len(first) < 26 || first == second { // base32: 26 letters are 130 bits
		t.Errorf("codes %q and %q", first, second)
	}
}

func TestOnlyABoundedNumberOfCodesWaits(t *testing.T) {
	now := time.Now()
	v := atTheDoor(t, PageConfig{MaxCodes: 2, CodeTTL: time.Minute, Clock: func() time.Time { return now }})
	v.code("anyone")
	used := v.code("anyone")
	response, raw := v.send("POST", "/codes/anyone", TokenHeader, token)
	if response.StatusCode != 429 || !strings.Contains(raw, "too_many_codes") || response.Header.Get("Retry-After") == "" {
		t.Errorf("the third code: %d %s", response.StatusCode, raw)
	}
	v.logIn(used)
	v.code("anyone")
	now = now.Add(time.Minute)
	v.code("anyone")
	v.code("anyone")
}

func TestASessionEnds(t *testing.T) {
	now := time.Now()
	v := atTheDoor(t, PageConfig{SessionTTL: time.Hour, Clock: func() time.Time { return now }})
	cookie := v.logIn(v.code("anyone"))
	want(t, cookie.MaxAge, 3600)
	now = now.Add(time.Hour)
	want(t, v.statuses("GET /read"), []int{401})
}

func TestBeyondTheBoundTheSessionThatEndsFirstIsEnded(t *testing.T) {
	now := time.Now()
	first := atTheDoor(t, PageConfig{MaxSessions: 2, Clock: func() time.Time { now = now.Add(time.Second); return now }})
	second, third := &visitor{t: t, server: first.server}, &visitor{t: t, server: first.server}
	for _, v := range []*visitor{first, second, third} {
		v.logIn(v.code("anyone"))
	}
	want(t, [][]int{first.statuses("GET /read"), second.statuses("GET /read"), third.statuses("GET /read")}, [][]int{{401}, {200}, {200}})
}

func TestTheCookieIsForThisSiteAndNotForScripts(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	cookie := v.logIn(v.code("anyone"))
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" || cookie.Secure {
		t.Errorf("the cookie is %s", cookie)
	}
}

func TestBehindHTTPSTheCookieStaysThere(t *testing.T) {
	server := serve(t, Config{Auth: AuthServiceToken, ServiceToken: token, Authorities: []string{"127.0.0.1", "chat.example"}}, lobby())
	v := &visitor{t: t, server: server}
	response, _ := v.send("POST", "/login/"+v.code("anyone"), "Origin", "https://chat.example")
	cookie := response.Cookies()[0]
	if !cookie.Secure {
		t.Errorf("the cookie is %s", cookie)
	}
	v.cookie = cookie.Value
	response, _ = v.send("POST", "/write", "Origin", "https://chat.example")
	want(t, response.StatusCode, 200)
	response, _ = v.send("POST", "/write", "Origin", v.server.URL) // served here too, but it did not log in
	want(t, response.StatusCode, 403)
}

func TestARequestThatThePageDidNotSendIsRefused(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	v.logIn(v.code("anyone"))
	own := v.server.URL
	port := own[strings.LastIndex(own, ":")+1:]
	for name, header := range map[string][]string{
		"no origin":        {},
		"a foreign origin": {"Origin", "http://evil.example"},
		"no page's origin": {"Origin", "null"},
		"another name":     {"Origin", "http://localhost:" + port},
		"another scheme":   {"Origin", "https://127.0.0.1:" + port},
		"another port":     {"Origin", "http://127.0.0.1:1"},
		"two origins":      {"Origin", own, "Origin", own},
		"a foreign site":   {"Origin", own, "Sec-Fetch-Site", "cross-site"},
		"another port's":   {"Origin", own, "Sec-Fetch-Site", "same-site"},
		"nobody's site":    {"Origin", own, "Sec-Fetch-Site", "none"},
		"two sites":        {"Origin", own, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "cross-site"},
	} {
		for _, path := range []string{"/write", "/logout"} {
			if response, raw := v.send("POST", path, header...); response.StatusCode != 403 {
				t.Errorf("%s, %s: %d %s", name, path, response.StatusCode, raw)
			}
		}
	}
	want(t, v.statuses("GET /read"), []int{200})
}

func TestOnlyThePageOfThisServiceLogsIn(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	code := v.code("anyone")
	for name, header := range map[string][]string{
		"no origin":        {},
		"a foreign origin": {"Origin", "http://evil.example"},
		"no page's origin": {"Origin", "null"},
		"a foreign site":   {"Origin", v.server.URL, "Sec-Fetch-Site", "cross-site"},
		"another port's":   {"Origin", v.server.URL, "Sec-Fetch-Site", "same-site"},
	} {
		if response, raw := v.send("POST", "/login/"+code, header...); response.StatusCode != 403 {
			t.Errorf("%s: %d %s", name, response.StatusCode, raw)
		}
	}
	v.logIn(code) // none of them used it up
}

func TestAForeignPageReadsNothingWithTheCookie(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	v.logIn(v.code("anyone"))
	got := map[string]int{}
	for _, site := range []string{"same-origin", "none", "same-site", "cross-site"} {
		response, _ := v.send("GET", "/read", "Sec-Fetch-Site", site)
		got[site] = response.StatusCode
	}
	want(t, got, map[string]int{"same-origin": 200, "none": 200, "same-site": 403, "cross-site": 403})
}

func TestAnIDThatABrowserBringsIsNeverTakenOver(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	v.cookie = "chosen-by-somebody-else"
	cookie := v.logIn(v.code("anyone"))
	if cookie.Value == "chosen-by-somebody-else" {
		t.Error("the session has the id that the browser brought")
	}
	planted := &visitor{t: t, server: v.server, cookie: "chosen-by-somebody-else"}
	want(t, planted.statuses("GET /read"), []int{401})
}

func TestANewLoginEndsTheBrowsersOldSession(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	old := v.logIn(v.code("anyone")).Value
	v.logIn(v.code("anyone"))
	left := &visitor{t: t, server: v.server, cookie: old}
	want(t, [][]int{left.statuses("GET /read"), v.statuses("GET /read")}, [][]int{{401}, {200}})
}

func TestTwoTabsShareASessionAndItsEnd(t *testing.T) {
	first := atTheDoor(t, PageConfig{})
	second := &visitor{t: t, server: first.server, cookie: first.logIn(first.code("anyone")).Value}
	want(t, second.statuses("GET /read", "POST /write"), []int{200, 200})
	response, _ := second.send("POST", "/logout", "Origin", first.server.URL)
	want(t, response.Cookies()[0].MaxAge, -1)
	want(t, [][]int{first.statuses("GET /read"), second.statuses("GET /read")}, [][]int{{401}, {401}})
}

func TestTwoCookiesThatDifferAreNone(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	id := v.logIn(v.code("anyone")).Value
	v.cookie = ""
	response, _ := v.send("GET", "/read", "Cookie", pageCookie+"=planted; "+pageCookie+"="+id)
	want(t, response.StatusCode, 401)
}

func TestARequestThatBringsACredentialIsJudgedByThatAlone(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	v.logIn(v.code("anyone"))
	response, _ := v.send("GET", "/read", "Authorization", "Bearer wrong")
	want(t, response.StatusCode, 401)
	response, raw := v.send("GET", "/read", TokenHeader, token)
	if response.StatusCode != 200 || !strings.Contains(raw, `"session":false`) {
		t.Errorf("the token: %d %s", response.StatusCode, raw)
	}
}

func TestOnlyTheServiceTokenMakesCodes(t *testing.T) {
	server := serve(t, jwtMode(), lobby())
	v := &visitor{t: t, server: server}
	response, raw := v.send("POST", "/codes/anyone", "Authorization", "Bearer ann/red/operator")
	if response.StatusCode != 403 || !strings.Contains(raw, "service_token_required") {
		t.Errorf("an operator's code: %d %s", response.StatusCode, raw)
	}
	v.logIn(v.code("pska:ann"))
	want(t, v.statuses("GET /read", "GET /other"), []int{200, 401})
}

func TestWhereNobodyIsAskedThereAreNoCodesAndThePageWorks(t *testing.T) {
	v := &visitor{t: t, server: serve(t, Config{}, lobby())}
	_, raw := v.send("POST", "/codes/anyone")
	if !strings.Contains(raw, `"Code":""`) {
		t.Errorf("a code where nobody asks: %s", raw)
	}
	want(t, v.statuses("GET /read", "POST /write"), []int{200, 200})
}

func TestARestartEndsEverySession(t *testing.T) {
	v := atTheDoor(t, PageConfig{})
	v.logIn(v.code("anyone"))
	later := atTheDoor(t, PageConfig{})
	later.cookie = v.cookie
	want(t, later.statuses("GET /read"), []int{401})
}
