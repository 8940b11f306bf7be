package blackbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	serviceToken = "service-token-of-the-blackbox"
	adminToken   = "administration-token-of-the-blackbox"
	tokenSecret  = "secret-of-the-tokens-of-the-blackbox"
)

const (
	signedMode = `auth: {mode: jwt, jwt: {issuer: "https://login.example", audience: fastreact, secret_env: TOKEN_SECRET}}` + "\n"
	proxyMode  = `auth: {mode: trusted_headers, trusted_proxies: ["127.0.0.1"]}` + "\n"
)

// identityEnv holds the secrets of a service in any mode.
func identityEnv() []string {
	return []string{
		"FASTREACT_SERVICE_TOKEN=" + serviceToken, "FASTREACT_ADMIN_TOKEN=" + adminToken, "TOKEN_SECRET=" + tokenSecret,
	}
}

// signed makes a token with an issuer's secret. Changes go over the claims of one that counts; nil takes a claim out.
func signed(t *testing.T, secret string, changes map[string]any) string {
	t.Helper()
	claims := map[string]any{
		"iss": "https://login.example", "aud": "fastreact", "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(body)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil))
}

// credential returns the headers of a user in a mode.
type credential func(user, tenant, role string) []string

func bySignature(t *testing.T) credential {
	return func(user, tenant, role string) []string {
		claims := map[string]any{"sub": user, "tenant_key": tenant, "roles": []string{role}}
		return []string{"Authorization", "Bearer " + signed(t, tokenSecret, claims)}
	}
}

func byProxy(user, tenant, role string) []string {
	return []string{"X-FastReAct-User-Key", user, "X-FastReAct-Tenant-Key", tenant, "X-FastReAct-Roles", role}
}

// claim is one way to say that somebody else asks.
type claim struct {
	name    string
	body    map[string]any
	headers []string
	model   string // arguments that the model writes
}

// lies are all fields that could name somebody, each naming the user bob of the tenant blue.
func lies() []claim {
	var all []claim
	for _, key := range []string{
		"user_key", "tenant_key", "pska_user_id", "user_id", "user", "owner_user_id", "identity", "auth_provider", "roles",
		"caller", "system_key", "represented_user_id", "tenant_id", "subject",
	} {
		all = append(all,
			claim{name: "body " + key, body: map[string]any{key: "blue:bob"}},
			claim{name: "metadata " + key, body: map[string]any{"metadata": map[string]any{key: "blue:bob"}}},
			claim{name: "argument " + key, model: `{"query":"q","` + key + `":"blue:bob"}`},
			claim{name: "argument in scope " + key, model: `{"query":"q","scope":{"` + key + `":"blue:bob"}}`},
		)
	}
	for _, header := range []string{
		"User-Key", "Tenant-Key", "Subject", "Display-Name", "Email", "Groups", "Roles", "Auth-Provider", "Caller", "User-ID",
	} {
		all = append(all, claim{name: "header " + header, headers: []string{"X-FastReAct-" + header, "blue:bob"}})
	}
	return append(all,
		claim{name: "metadata identity", body: map[string]any{"metadata": map[string]any{
			"identity": map[string]any{"user_key": "blue:bob", "auth_provider": "service_token"},
		}}},
		claim{name: "argument in another case", model: `{"query":"q","User_ID":"blue:bob"}`},
		claim{name: "duplicate key", model: `{"query":"q","user_id":"ann","user_id":"blue:bob"}`},
	)
}

// expectAnn tells one lie with red:ann's credential: it is refused, or whatever leaves names red:ann.
func expectAnn(t *testing.T, s *service, own []string, l claim, id string) {
	t.Helper()
	body := map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": "lie " + l.model}}, "stream": false,
	}
	maps.Copy(body, l.body)
	metadata, _ := body["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["run_id"] = id
	body["metadata"] = metadata
	before := len(received(t, s.oracleLog()))
	status, raw := s.request("POST", "/v1/chat/completions", body, append(l.headers, own...)...)
	calls := received(t, s.oracleLog())[before:]
	if status >= 400 && status < 500 && len(calls) == 0 {
		if strings.Contains(string(raw), "bob") {
			t.Errorf("%s: the refusal repeats it: %s", l.name, raw)
		}
		return
	}
	if status != 200 || len(calls) != 1 {
		t.Fatalf("%s: %d, %d calls: %s", l.name, status, len(calls), raw)
	}
	var args struct {
		UserID string `json:"user_id"`
	}
	if err := json.Unmarshal(calls[0]["arguments"], &args); err != nil {
		t.Fatal(err)
	}
	if string(calls[0]["user_key"]) != `"red:ann"` || string(calls[0]["tenant_key"]) != `"red"` || args.UserID != "ann" {
		t.Errorf("%s: the server heard user %s, tenant %s, user_id %s", l.name, calls[0]["user_key"], calls[0]["tenant_key"], args.UserID)
	}
	if _, raw = s.request("GET", "/v1/runs/"+id, nil, "X-FastReAct-Service-Token", serviceToken); !strings.Contains(string(raw), `"user_key":"red:ann"`) {
		t.Errorf("%s: the run belongs to somebody else: %s", l.name, raw)
	}
	run := s.object(raw)
	kept, err := json.Marshal(run["metadata"].(map[string]any)["identity"])
	if err != nil || strings.Contains(string(kept), "bob") || strings.Contains(string(kept), "service_token") {
		t.Errorf("%s: the run's identity is %s", l.name, kept)
	}
	if run["user_key"] != "red:ann" || run["tenant_key"] != "red" {
		t.Errorf("%s: the run is of %v in %v", l.name, run["user_key"], run["tenant_key"])
	}
}

// repeatTheLie is a model that calls with the arguments that its question holds.
func repeatTheLie(a asked) said {
	if a.step() > 0 {
		return said{text: "done"}
	}
	args := strings.TrimPrefix(a.question(), "lie ")
	if !strings.HasPrefix(args, "{") {
		args = `{"query":"q"}`
	}
	return call("pska_pska_search", args)
}

func TestNobodyButTheServiceTokenSpeaksForAnother(t *testing.T) {
	t.Parallel()
	for mode, c := range map[string]struct {
		config string
		own    []string
	}{
		"jwt":             {signedMode, bySignature(t)("red:ann", "red", "reader")},
		"trusted_headers": {proxyMode, []string{"X-FastReAct-User-Key", "red:ann"}},
	} {
		t.Run(mode, func(t *testing.T) {
			s := start(t, newModel(t, repeatTheLie), c.config, identityEnv()...)
			for i, l := range lies() {
				own := c.own
				if mode == "trusted_headers" && strings.HasPrefix(l.name, "header ") {
					continue // the proxy is believed; the next test asks who is a proxy
				}
				expectAnn(t, s, own, l, "run-"+string(rune('a'+i/26))+string(rune('a'+i%26)))
			}
		})
	}
}

func TestIdentityHeadersNeedATrustedPeerOrTheServiceToken(t *testing.T) {
	t.Parallel()
	for mode, config := range map[string]string{
		"service_token": "", "jwt": signedMode,
		"trusted_headers elsewhere": `auth: {mode: trusted_headers, trusted_proxies: ["10.0.0.0/8"]}` + "\n",
	} {
		s := start(t, newModel(t, searchThenAnswer), config, identityEnv()...)
		body := ask("Question", map[string]any{"stream": false, "user_key": nil, "metadata": map[string]any{"run_id": "r"}})
		status, raw := s.request("POST", "/v1/chat/completions", body, byProxy("red:ann", "red", "operator")...)
		if status != 401 && status != 403 {
			t.Errorf("%s: headers alone: %d %s", mode, status, raw)
		}
		if status, raw = s.request("POST", "/v1/chat/completions", body, append(byProxy("red:ann", "red", ""), "X-FastReAct-Service-Token", serviceToken)...); status != 200 {
			t.Errorf("%s: beside the service token: %d %s", mode, status, raw)
		}
		calls := received(t, s.oracleLog())
		if len(calls) != 1 || string(calls[0]["user_key"]) != `"red:ann"` {
			t.Errorf("%s: the server heard %v", mode, calls)
		}
		_, raw = s.request("GET", "/v1/runs/r", nil, "X-FastReAct-Service-Token", serviceToken)
		if !strings.Contains(string(raw), `"auth_provider":"service_token"`) {
			t.Errorf("%s: %s", mode, raw)
		}
	}
}

func TestTokensThatDoNotCountOpenNothing(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), signedMode+"telemetry: {log_level: debug}\n", identityEnv()...)
	right := map[string]any{"sub": "ann", "tenant_key": "red"}
	with := func(key string, value any) map[string]any {
		changed := maps.Clone(right)
		changed[key] = value
		return changed
	}
	parts := strings.Split(signed(t, tokenSecret, right), ".")
	encode := base64.RawURLEncoding.EncodeToString
	tokens := map[string]string{
		"expired":          signed(t, tokenSecret, with("exp", time.Now().Add(-time.Minute).Unix())),
		"not yet":          signed(t, tokenSecret, with("nbf", time.Now().Add(time.Hour).Unix())),
		"no expiry":        signed(t, tokenSecret, with("exp", nil)),
		"another issuer":   signed(t, tokenSecret, with("iss", "https://evil.example")),
		"another audience": signed(t, tokenSecret, with("aud", []string{"other"})),
		"no subject":       signed(t, tokenSecret, with("sub", nil)),
		"wrong secret":     signed(t, "guessed", right),
		"alg none":         encode([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
		"no signature":     parts[0] + "." + parts[1] + ".",
		"administration":   adminToken,
		"oversized":        signed(t, tokenSecret, with("x", strings.Repeat("a", 20<<10))),
		"empty":            "",
	}
	for name, token := range tokens {
		if status, raw := s.request("GET", "/v1/runs", nil, "Authorization", "Bearer "+token); status != 401 {
			t.Errorf("%s: %d %s", name, status, raw)
		} else if token != "" && strings.Contains(string(raw), token) {
			t.Errorf("%s is repeated: %s", name, raw)
		}
		if token != "" && strings.Contains(s.output.String(), token) {
			t.Errorf("%s stands in the log", name)
		}
	}
	good := signed(t, tokenSecret, with("aud", []string{"other", "fastreact"}))
	if status, raw := s.request("GET", "/v1/runs", nil, "Authorization", "Bearer "+good); status != 200 {
		t.Errorf("a token that counts: %d %s", status, raw)
	}
	for _, secret := range []string{good, tokenSecret, serviceToken, adminToken} {
		if strings.Contains(s.output.String(), secret) {
			t.Errorf("the log holds %s", secret)
		}
	}
}

func TestWithOnlyUsersReadinessStaysReadableWithoutDetails(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), signedMode, "TOKEN_SECRET="+tokenSecret)
	for path, want := range map[string]int{
		"/health": 200, "/ready": 200, "/v1/tools": 200, "/": 401, "/v1/runs": 401, "/v1/policy": 401, "/v1/metrics": 401,
		"/metrics": 401, "/v1/skills": 401, "/v1/models": 401, "/v1/audit/export": 403,
	} {
		if status, raw := s.request("GET", path, nil); status != want {
			t.Errorf("%s: %d, want %d: %s", path, status, want, raw)
		}
	}
	_, raw := s.request("GET", "/ready", nil)
	ready := s.object(raw)
	if plugins := ready["plugins"].([]any); len(plugins) != 0 {
		t.Errorf("plugins: %v", plugins)
	}
	if auth := ready["auth"].(map[string]any); auth["required"] != true || auth["mode"] != "jwt" {
		t.Errorf("auth: %v", auth)
	}
}

func TestRatesHoldForACredentialAndForAUser(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), signedMode, identityEnv()...)
	edited := startEdited(t, newModel(t, searchThenAnswer), func(config string) string {
		return strings.Replace(config+signedMode, "keepalive: 1s",
			"keepalive: 1s, rate_limits: {per_credential: {per_minute: 4, burst: 2}, per_user: {per_minute: 1, burst: 1}}", 1)
	}, identityEnv()...)
	as := bySignature(t)
	ann, eve := as("red:ann", "red", ""), as("blue:eve", "blue", "")
	for range 5 {
		if status, _ := s.request("GET", "/v1/runs", nil, ann...); status != 200 {
			t.Errorf("without a limit: %d", status)
		}
	}
	for i, want := range []int{200, 200, 429} {
		response := edited.open("GET", "/v1/runs", nil, ann...)
		response.Body.Close()
		if response.StatusCode != want || want == 429 && response.Header.Get("Retry-After") == "" {
			t.Errorf("request %d: %d, Retry-After %q", i, response.StatusCode, response.Header.Get("Retry-After"))
		}
	}
	if status, _ := edited.request("GET", "/v1/runs", nil, eve...); status != 200 {
		t.Errorf("another user: %d", status)
	}
	// The credential is asked before the body is read, the user after it was validated.
	if status, _ := edited.request("POST", "/v1/runs", "{", ann...); status != 429 {
		t.Errorf("broken body of a hasty credential: %d", status)
	}
	spoken := []string{"X-FastReAct-Service-Token", serviceToken}
	body := ask("Question", map[string]any{"user_key": "blue:eve"})
	for i, want := range []int{200, 429} {
		if status, raw := edited.request("POST", "/v1/runs", body, spoken...); status != want {
			t.Errorf("run %d of a user: %d, want %d: %s", i, status, want, raw)
		}
	}
}

func TestBlockedUsersAreNotServedWhoeverSpeaksForThem(t *testing.T) {
	t.Parallel()
	blocking := `auth: {mode: jwt, jwt: {issuer: "https://login.example", audience: fastreact, secret_env: TOKEN_SECRET}, ` +
		`block_users: ["red:ann"], block_tenants: [grey]}` + "\n"
	s := start(t, newModel(t, searchThenAnswer), blocking, identityEnv()...)
	as, spoken := bySignature(t), []string{"X-FastReAct-Service-Token", serviceToken}
	for name, c := range map[string]struct {
		headers []string
		user    string
		status  int
	}{
		"blocked user":           {as("red:ann", "red", "operator"), "", 403},
		"blocked tenant":         {as("grey:joe", "grey", ""), "", 403},
		"another user":           {as("red:bob", "red", ""), "", 200},
		"spoken for":             {spoken, "red:ann", 403},
		"spoken for, the tenant": {spoken, "grey:joe", 403},
		"spoken for, another":    {spoken, "red:bob", 200},
	} {
		body := ask("Question", map[string]any{"metadata": map[string]any{}, "user_key": c.user})
		if status, raw := s.request("POST", "/v1/runs", body, c.headers...); status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, status, c.status, raw)
		}
	}
}

func TestThePolicyIsReadAgainAndABadFileChangesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "policy: {tool_rules: {exec: caution}}\n", identityEnv()...)
	s.token = serviceToken
	action := func() any { return dryRun(s, "exec", `{"command":"ls"}`, "red:ann")["policy_action"] }
	rewrite := func(old, now string) {
		t.Helper()
		raw, err := os.ReadFile(s.config)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(raw), old, now, 1)
		if err := os.WriteFile(s.config, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reload := func(token string) (int, map[string]any) {
		t.Helper()
		status, raw := s.request("POST", "/v1/policy/reload", nil, "Authorization", "Bearer "+token)
		return status, s.object(raw)
	}
	_, raw := s.request("GET", "/v1/policy", nil)
	before := s.object(raw)
	if before["reload_supported"] != true || action() != "caution" {
		t.Fatalf("at the start: %s", raw)
	}
	rewrite("exec: caution", "exec: deny")
	if status, answer := reload(serviceToken); status != 401 || action() != "caution" {
		t.Errorf("the service token: %d %v", status, answer)
	}
	status, answer := reload(adminToken)
	if status != 200 || answer["changed"] != true || answer["previous_policy_snapshot_hash"] != before["policy_snapshot_hash"] || action() != "deny" {
		t.Errorf("reload: %d %v, then %v", status, answer, action())
	}
	rewrite("exec: deny", "exec: perhaps")
	if status, answer := reload(adminToken); status != 422 || !strings.Contains(string(mustJSON(t, answer)), "policy.tool_rules.exec") || action() != "deny" {
		t.Errorf("bad file: %d %v, then %v", status, answer, action())
	}
	rewrite("exec: perhaps", "exec: allow")
	if err := s.command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.await(10*time.Second, func() (bool, string) { return action() == "allow", "SIGHUP reloads nothing" })
}

func TestTheBooksAreExportedToTheAdministrationOnly(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "", identityEnv()...)
	s.token = serviceToken
	for _, user := range []string{"red:ann", "blue:eve"} {
		s.stream(ask("Question", map[string]any{"user_key": user})).rest()
	}
	if status, _ := s.request("GET", "/v1/audit/export", nil); status != 401 {
		t.Errorf("the service token: %d", status)
	}
	s.token = ""
	export := func(query string) (records []map[string]any) {
		t.Helper()
		response := s.open("GET", "/v1/audit/export"+query, nil, "Authorization", "Bearer "+adminToken)
		defer response.Body.Close()
		if media := response.Header.Get("Content-Type"); response.StatusCode != 200 || media != "application/x-ndjson" {
			t.Fatalf("%d %s", response.StatusCode, media)
		}
		for decoder := json.NewDecoder(response.Body); decoder.More(); {
			var record map[string]any
			if err := decoder.Decode(&record); err != nil {
				t.Fatal(err)
			}
			records = append(records, record)
		}
		return records
	}
	all := export("")
	if len(all) != 4 || all[0]["stage"] != "decision" || all[1]["stage"] != "outcome" || all[0]["user_key"] != "red:ann" || all[2]["tenant_key"] != "blue" {
		t.Fatalf("export: %v", all)
	}
	first := export("?limit=1")
	rest := export("?after=" + string(mustJSON(t, first[0]["sequence"])))
	if len(first) != 1 || len(rest) != 3 || rest[0]["sequence"] != all[1]["sequence"] {
		t.Errorf("pages: %v, then %v", first, rest)
	}
	if status, _ := s.request("GET", "/v1/audit/export?after=-1", nil, "Authorization", "Bearer "+adminToken); status != 400 {
		t.Errorf("negative cursor: %d", status)
	}
}
