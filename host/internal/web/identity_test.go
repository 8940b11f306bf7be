package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const adminToken = "administration-token-of-the-test"

// mirror is a face that answers who asks.
func mirror() Face {
	who := func(x *Exchange) error { return x.JSON(200, x.Caller) }
	return Face{Routes: []Route{
		{Method: "GET", Path: "/who", Handle: who},
		{Method: "GET", Path: "/bare", Handle: who, Bare: true},
		{Method: "GET", Path: "/admin", Handle: who, Admin: true},
		{Method: "GET", Path: "/health", Handle: who, Public: true},
	}}
}

// claims reads tokens that are written "subject tenant role…", with - for an empty word.
func claims(_ context.Context, token string) (Claims, error) {
	words := strings.Split(strings.ReplaceAll(token, "-", ""), "/")
	if len(words) < 2 {
		return Claims{}, errors.New("private reason")
	}
	return Claims{Subject: words[0], Tenant: words[1], Roles: words[2:]}, nil
}

// whoIs asks a door that has one trusted proxy who a request comes from.
func whoIs(t *testing.T, cfg Config, path, peer string, header ...string) (Caller, int, string) {
	t.Helper()
	cfg.Authorities = []string{"here"}
	entrance, err := New(cfg, mirror())
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest("GET", "http://here"+path, nil)
	request.RemoteAddr = peer
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	entrance.ServeHTTP(recorder, request)
	var caller Caller
	var refusal struct{ Error struct{ Code string } }
	target := any(&caller)
	if recorder.Code != http.StatusOK {
		target = &refusal
	}
	if object, refused := DecodeObject(recorder.Body.Bytes()); refused != nil || len(object) == 0 {
		t.Fatalf("answer %s", recorder.Body)
	}
	decode(t, recorder.Body.Bytes(), target)
	return caller, recorder.Code, refusal.Error.Code
}

func jwtMode() Config {
	return Config{Auth: AuthJWT, ServiceToken: token, AdminToken: adminToken, Tokens: claims, OperatorRole: "operator"}
}

func proxyMode() Config {
	return Config{
		Auth: AuthTrustedHeaders, ServiceToken: token, AdminToken: adminToken, OperatorRole: "operator",
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
	}
}

const (
	proxy    = "10.1.2.3:4000"
	stranger = "192.0.2.1:4000"
)

func TestASignedTokenNamesItsHolder(t *testing.T) {
	for bearer, want := range map[string]Caller{
		"ann/red":              {Standing: User, UserKey: "sso:ann", TenantKey: "red"},
		"red:ann/red":          {Standing: User, UserKey: "red:ann", TenantKey: "red"},
		"blue:ann/":            {Standing: User, UserKey: "blue:ann"}, // no tenant claim means no tenant
		"ann/red/operator":     {Standing: Operator, UserKey: "sso:ann", TenantKey: "red", Roles: []string{"operator"}},
		"ann/red/x/operators":  {Standing: User, UserKey: "sso:ann", TenantKey: "red", Roles: []string{"x", "operators"}},
		"ann/red/Operator":     {Standing: User, UserKey: "sso:ann", TenantKey: "red", Roles: []string{"Operator"}},
		"service_token/red/ok": {Standing: User, UserKey: "sso:service_token", TenantKey: "red", Roles: []string{"ok"}},
	} {
		got, status, _ := whoIs(t, jwtMode(), "/who", stranger, "Authorization", "Bearer "+bearer)
		want.Provider, got.Credential = "jwt", ""
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); status != 200 || diff != "" {
			t.Errorf("%s: %d (-want +got):\n%s", bearer, status, diff)
		}
	}
}

func TestTheServiceTokenSpeaksForAnyoneInEveryMode(t *testing.T) {
	for name, cfg := range map[string]Config{
		"service_token": {Auth: AuthServiceToken, ServiceToken: token}, "none": {ServiceToken: token},
		"jwt": jwtMode(), "trusted_headers": proxyMode(),
	} {
		for _, header := range [][]string{{TokenHeader, token}, {"Authorization", "Bearer " + token}} {
			for _, peer := range []string{proxy, stranger} {
				got, status, code := whoIs(t, cfg, "/who", peer, append(header, UserHeader, "red:ann")...)
				if status != 200 || got.Standing != Everybody || got.Provider != "service_token" || got.UserKey != "" {
					t.Errorf("%s %v from %s: %d %s %+v", name, header[0], peer, status, code, got)
				}
			}
		}
	}
}

func TestWhoHasNoRightCredentialIsTurnedAway(t *testing.T) {
	for name, c := range map[string]struct {
		cfg    Config
		peer   string
		header []string
		status int
		code   string
	}{
		"jwt, nothing":               {jwtMode(), stranger, nil, 401, "unauthorized"},
		"jwt, token that counts not": {jwtMode(), stranger, []string{"Authorization", "Bearer x"}, 401, "unauthorized"},
		"jwt, two tokens":            {jwtMode(), stranger, []string{"Authorization", "Bearer a/b", "Authorization", "Bearer c/d"}, 401, "unauthorized"},
		"jwt, wrong service token":   {jwtMode(), stranger, []string{TokenHeader, "x", "Authorization", "Bearer ann/red"}, 401, "unauthorized"},
		"jwt, headers of a proxy":    {jwtMode(), proxy, []string{UserHeader, "red:ann"}, 401, "unauthorized"},
		"jwt, another user":          {jwtMode(), stranger, []string{"Authorization", "Bearer ann/red", UserHeader, "sso:bob"}, 403, "identity_mismatch"},
		"jwt, another tenant":        {jwtMode(), stranger, []string{"Authorization", "Bearer ann/red", TenantHeader, "blue"}, 403, "identity_mismatch"},
		"jwt, a tenant for none":     {jwtMode(), stranger, []string{"Authorization", "Bearer red:ann/", TenantHeader, "red"}, 403, "identity_mismatch"},
		"jwt, a second value":        {jwtMode(), stranger, []string{"Authorization", "Bearer ann/red", UserHeader, "sso:ann", UserHeader, "sso:bob"}, 403, "identity_mismatch"},
		"jwt, administration token":  {jwtMode(), stranger, []string{"Authorization", "Bearer " + adminToken}, 401, "unauthorized"},
		"jwt, control characters":    {jwtMode(), stranger, []string{"Authorization", "Bearer a\u200bb/red"}, 401, "unauthorized"},
		"jwt, long subject":          {jwtMode(), stranger, []string{"Authorization", "Bearer " + strings.Repeat("a", 257) + "/red"}, 401, "unauthorized"},
		"proxy, nothing":             {proxyMode(), proxy, nil, 401, "unauthorized"},
		"proxy, empty user":          {proxyMode(), proxy, []string{UserHeader, ""}, 401, "unauthorized"},
		"proxy, two users":           {proxyMode(), proxy, []string{UserHeader, "red:ann", UserHeader, "red:bob"}, 401, "unauthorized"},
		"proxy, two users joined":    {proxyMode(), proxy, []string{UserHeader, "red:ann, blue:bob"}, 401, "unauthorized"},
		"proxy, two tenants joined":  {proxyMode(), proxy, []string{UserHeader, "red:ann", TenantHeader, "red,blue"}, 401, "unauthorized"},
		"proxy, two roles":           {proxyMode(), proxy, []string{UserHeader, "red:ann", rolesHeader, "x", rolesHeader, "operator"}, 401, "unauthorized"},
		"proxy, borrowed provider":   {proxyMode(), proxy, []string{UserHeader, "red:ann", providerHeader, "Service_Token"}, 401, "unauthorized"},
		"proxy, odd user":            {proxyMode(), proxy, []string{UserHeader, "red:a\u202en"}, 401, "unauthorized"},
		"proxy, wrong service token": {proxyMode(), proxy, []string{UserHeader, "red:ann", TokenHeader, "x"}, 401, "unauthorized"},
		"stranger":                   {proxyMode(), stranger, []string{UserHeader, "red:ann"}, 403, "untrusted_proxy"},
		"stranger, nothing":          {proxyMode(), stranger, nil, 401, "unauthorized"},
		"stranger, forwarded for":    {proxyMode(), stranger, []string{UserHeader, "red:ann", "X-Forwarded-For", "10.1.2.3"}, 403, "untrusted_proxy"},
		"service mode, headers":      {Config{Auth: AuthServiceToken, ServiceToken: token}, proxy, []string{UserHeader, "red:ann"}, 401, "unauthorized"},
		"service mode, admin":        {Config{ServiceToken: token, AdminToken: adminToken}, proxy, []string{TokenHeader, adminToken}, 401, "unauthorized"},
	} {
		if _, status, code := whoIs(t, c.cfg, "/who", c.peer, c.header...); status != c.status || code != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, status, code, c.status, c.code)
		}
	}
}

func TestATrustedProxyNamesTheUser(t *testing.T) {
	for name, c := range map[string]struct {
		peer   string
		header []string
		want   Caller
	}{
		"user":        {proxy, nil, Caller{Standing: User, TenantKey: "red", Provider: "trusted_headers"}},
		"tenant":      {proxy, []string{TenantHeader, "acme"}, Caller{Standing: User, TenantKey: "acme", Provider: "trusted_headers"}},
		"mapped IPv6": {"[::ffff:10.1.2.3]:9", nil, Caller{Standing: User, TenantKey: "red", Provider: "trusted_headers"}},
		"IPv6":        {"[fd00::1]:9", nil, Caller{Standing: User, TenantKey: "red", Provider: "trusted_headers"}},
		"roles": {proxy, []string{rolesHeader, "reader, operator"}, Caller{
			Standing: Operator, TenantKey: "red", Provider: "trusted_headers", Roles: []string{"reader", "operator"},
		}},
		"groups are no roles": {proxy, []string{"X-FastReAct-Groups", "operator"}, Caller{
			Standing: User, TenantKey: "red", Provider: "trusted_headers",
		}},
		"provider": {proxy, []string{providerHeader, "keycloak"}, Caller{Standing: User, TenantKey: "red", Provider: "keycloak"}},
		"foreign bearer token": {proxy, []string{"Authorization", "Bearer of-the-proxy"}, Caller{
			Standing: User, TenantKey: "red", Provider: "trusted_headers",
		}},
	} {
		got, status, code := whoIs(t, proxyMode(), "/who", c.peer, append(c.header, UserHeader, "red:ann")...)
		c.want.UserKey, got.Credential = "red:ann", ""
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %d %s (-want +got):\n%s", name, status, code, diff)
		}
	}
}

func TestOnlyTheAdministrationTokenOpensAdministration(t *testing.T) {
	without := jwtMode()
	without.AdminToken = ""
	for name, c := range map[string]struct {
		cfg    Config
		header []string
		status int
		code   string
	}{
		"right":           {jwtMode(), []string{"Authorization", "Bearer " + adminToken}, 200, ""},
		"right, header":   {jwtMode(), []string{AdminHeader, adminToken}, 200, ""},
		"none":            {jwtMode(), nil, 401, "unauthorized"},
		"service token":   {jwtMode(), []string{TokenHeader, token}, 401, "unauthorized"},
		"service, bearer": {jwtMode(), []string{"Authorization", "Bearer " + token}, 401, "unauthorized"},
		"both":            {jwtMode(), []string{AdminHeader, adminToken, "Authorization", "Bearer x"}, 401, "unauthorized"},
		"a user":          {jwtMode(), []string{"Authorization", "Bearer ann/red/operator"}, 401, "unauthorized"},
		"switched off":    {without, []string{"Authorization", "Bearer " + adminToken}, 403, "admin_disabled"},
		"off, service":    {without, []string{TokenHeader, token}, 403, "admin_disabled"},
		"open service":    {Config{}, nil, 403, "admin_disabled"},
	} {
		if _, status, code := whoIs(t, c.cfg, "/admin", proxy, c.header...); status != c.status || code != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, status, code, c.status, c.code)
		}
	}
}

func TestSomeRoutesAreReadBareWhereOnlyUsersHaveCredentials(t *testing.T) {
	only := jwtMode()
	only.ServiceToken = ""
	for name, c := range map[string]struct {
		cfg    Config
		path   string
		header []string
		status int
	}{
		"bare":                 {only, "/bare", nil, 200},
		"bare, another route":  {only, "/who", nil, 401},
		"bare, broken token":   {only, "/bare", []string{"Authorization", "Bearer x"}, 401},
		"bare, other scheme":   {only, "/bare", []string{"Authorization", "Basic x"}, 401},
		"bare, service token":  {only, "/bare", []string{TokenHeader, "x"}, 401},
		"with a service token": {jwtMode(), "/bare", nil, 401},
		"trusted headers":      {proxyMode(), "/bare", nil, 401},
		"public":               {jwtMode(), "/health", nil, 200},
	} {
		if _, status, code := whoIs(t, c.cfg, c.path, proxy, c.header...); status != c.status {
			t.Errorf("%s: %d %s, want %d", name, status, code, c.status)
		}
	}
}

func TestListsSayWhomToServe(t *testing.T) {
	for name, c := range map[string]struct {
		guests Guests
		served bool
	}{
		"no lists":                    {Guests{}, true},
		"blocked user":                {Guests{BlockUsers: []string{"red:ann"}}, false},
		"blocked tenant":              {Guests{BlockTenants: []string{"red"}}, false},
		"others blocked":              {Guests{BlockUsers: []string{"red:bob"}, BlockTenants: []string{"blue"}}, true},
		"allowed user":                {Guests{AllowUsers: []string{"red:ann"}}, true},
		"not allowed user":            {Guests{AllowUsers: []string{"red:bob"}}, false},
		"not allowed tenant":          {Guests{AllowTenants: []string{"blue"}}, false},
		"allowed user, other tenant":  {Guests{AllowUsers: []string{"red:ann"}, AllowTenants: []string{"blue"}}, false},
		"allowed user, blocked again": {Guests{AllowUsers: []string{"red:ann"}, BlockUsers: []string{"red:ann"}}, false},
	} {
		cfg := jwtMode()
		cfg.Guests = c.guests
		_, status, code := whoIs(t, cfg, "/who", proxy, "Authorization", "Bearer red:ann/red")
		if served := status == 200; served != c.served || !served && (status != 403 || code != "user_blocked") {
			t.Errorf("%s: %d %s", name, status, code)
		}
	}
}

func TestAModeThatLacksWhatItNeedsIsRefused(t *testing.T) {
	for _, cfg := range []Config{{Auth: AuthTrustedHeaders}, {Auth: AuthJWT}, {Auth: "oauth"}} {
		if _, err := New(cfg, mirror()); err == nil {
			t.Errorf("mode %s without anything was accepted", cfg.Auth)
		}
	}
}

func TestAnAllowanceIsUsedUpAndGrowsAgain(t *testing.T) {
	now := time.Unix(0, 0)
	throttle := NewThrottle(Rate{PerMinute: 60, Burst: 2}, 10, func() time.Time { return now })
	take := func(key string) bool { _, ok := throttle.Take(key); return ok }
	got := []bool{take("a"), take("a"), take("a"), take("b")}
	if wait, _ := throttle.Take("a"); wait != time.Second {
		t.Errorf("wait %s", wait)
	}
	now = now.Add(time.Second)
	got = append(got, take("a"), take("a"))
	now = now.Add(time.Hour)
	got = append(got, take("a"), take("a"), take("a"))
	if diff := cmp.Diff([]bool{true, true, false, true, true, false, true, true, false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAThrottleRemembersABoundedNumberOfKeys(t *testing.T) {
	throttle := NewThrottle(Rate{PerMinute: 1}, 3, nil)
	for _, key := range []string{"a", "b", "c", "a", "d"} {
		throttle.Take(key)
	}
	if len(throttle.buckets) != 3 || throttle.order.Len() != 3 || throttle.buckets["b"] != nil || throttle.buckets["a"] == nil {
		t.Errorf("remembered %v", throttle.buckets)
	}
}

func TestARefreshedTokenIsNoFreshAllowance(t *testing.T) {
	first, _, _ := whoIs(t, jwtMode(), "/who", proxy, "Authorization", "Bearer red:ann/red")
	second, _, _ := whoIs(t, jwtMode(), "/who", stranger, "Authorization", "Bearer red:ann/red/operator")
	other, _, _ := whoIs(t, jwtMode(), "/who", proxy, "Authorization", "Bearer red:ann/blue")
	if first.Credential != second.Credential || first.Credential == other.Credential || first.Credential == "" {
		t.Errorf("%q %q %q", first.Credential, second.Credential, other.Credential)
	}
}

func decode(t *testing.T, raw []byte, target any) {
	t.Helper()
	if err := json.Unmarshal(raw, target); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}
