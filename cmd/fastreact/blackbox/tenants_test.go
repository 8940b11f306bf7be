package blackbox

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// person is somebody with a credential of its own. Everything that belongs to a person holds its mark.
type person struct {
	user, tenant, mark string
	headers            []string
	run, approval      string
}

// town is a service with two tenants. Ann and Bob live in one of them, Eve in the other; each has one finished run and one
// that waits for approval. Two of the runs have the same id.
type town struct {
	*service
	model                                    *scriptedModel
	ann, bob, eve, redOperator, blueOperator person
	whole                                    []string // headers of the service token
}

const (
	redTenant, blueTenant = "redten", "bluten"
	sharedID              = "run-of-the-same-id"
)

const townPolicy = `policy:
  tool_rules: {bump: require_approval}
  tenant_rules: {redten: {tools: {bump: require_approval}}, bluten: {tools: {bump: require_approval}}}
  user_rules: {"redten:ann-4711": {tools: {bump: require_approval}}, "bluten:eve-4713": {tools: {bump: require_approval}}}
`

func newTown(t *testing.T, mode string, as credential, more string) *town {
	t.Helper()
	model := newModel(t, func(a asked) said {
		if a.step() > 0 || !strings.HasPrefix(a.question(), "bump") {
			return said{text: "heard: " + a.question()}
		}
		return call("pska_bump", `{"note":"`+a.question()+`"}`)
	})
	town := &town{
		service: start(t, model, mode+townPolicy+more, identityEnv()...), model: model,
		whole: []string{"X-FastReAct-Service-Token", serviceToken},
	}
	move := func(name, tenant, role string) person {
		p := person{user: tenant + ":" + name, tenant: tenant, mark: name}
		p.headers, p.run = as(p.user, tenant, role), "run-"+tenant+"-"+name
		return p
	}
	town.ann, town.bob = move("ann-4711", redTenant, "reader"), move("bob-4712", redTenant, "reader")
	town.eve = move("eve-4713", blueTenant, "reader")
	town.redOperator, town.blueOperator = move("olga-4714", redTenant, "operator"), move("otto-4715", blueTenant, "operator")
	for _, p := range []*person{&town.ann, &town.bob, &town.eve} {
		town.settle(p)
	}
	return town
}

// settle gives a person one finished run and one that waits for approval.
func (t *town) settle(p *person) {
	t.t.Helper()
	session := "session-of-" + p.mark
	question := func(text, id string) map[string]any {
		return map[string]any{
			"messages":   []any{map[string]any{"role": "user", "content": text + " secret of " + p.mark}},
			"session_id": session, "stream": false, "metadata": map[string]any{"run_id": id},
		}
	}
	id := sharedID
	if p.mark == t.bob.mark {
		id = "chat-" + p.mark
	}
	if status, raw := t.request("POST", "/v1/chat/completions", question("say", id), p.headers...); status != 200 {
		t.t.Fatalf("%s: %d %s", p.user, status, raw)
	}
	if status, raw := t.request("POST", "/v1/runs", question("bump", p.run), p.headers...); status != 200 {
		t.t.Fatalf("%s: %d %s", p.user, status, raw)
	}
	t.await(20*time.Second, func() (bool, string) {
		_, raw := t.request("GET", "/v1/approvals?run_id="+p.run, nil, p.headers...)
		list, _ := t.object(raw)["approvals"].([]any)
		if len(list) == 1 {
			p.approval = list[0].(map[string]any)["request_id"].(string)
		}
		return len(list) == 1, p.user + " waits for no approval: " + string(raw)
	})
}

// outsider is somebody who must not see something of a victim's.
type outsider struct {
	name   string
	as     person
	victim person
	marks  []string
}

func (t *town) outsiders() []outsider {
	others := []string{blueTenant, t.eve.mark}
	return []outsider{
		{"a user of another tenant", t.ann, t.eve, others},
		{"an operator of another tenant", t.redOperator, t.eve, others},
		{"a user of the same tenant", t.bob, t.ann, []string{t.ann.mark, sharedID}},
		{"the other tenant's operator", t.blueOperator, t.ann, []string{redTenant, t.ann.mark, t.bob.mark}},
	}
}

// probe is a request that an outsider sends, and what it must be answered.
type probe struct {
	path   string
	body   any
	status int
}

// probes has the requests for each route that the service lists. A route without one fails the test.
func probes(o outsider) map[string][]probe {
	theirs := func(path string, body any) []probe {
		return []probe{{strings.ReplaceAll(path, "{run}", o.victim.run), body, 404}}
	}
	operator := strings.HasPrefix(o.as.mark, "o")
	question := map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": "say"}}, "stream": false, "session_id": "session-of-" + o.victim.mark,
		"metadata": map[string]any{"session_memory": true},
	}
	check := map[string]any{"tool_name": "pska_bump", "user_key": o.victim.user}
	checked := probe{"/v1/policy/check", check, 403}
	if operator {
		check["tenant_key"] = o.victim.tenant // of its own tenant an operator may ask about anyone
	}
	lists := func(path string) []probe {
		return []probe{
			{path, nil, 200}, {path + "?limit=1000", nil, 200}, {path + "?session_id=session-of-" + o.victim.mark, nil, 200},
		}
	}
	return map[string][]probe{
		"GET /":                                   {{"/", nil, 200}},
		"GET /health":                             {{"/health", nil, 200}},
		"GET /ready":                              {{"/ready", nil, 200}},
		"GET /v1/models":                          {{"/v1/models", nil, 200}},
		"GET /v1/tools":                           {{"/v1/tools", nil, 200}},
		"GET /v1/skills":                          {{"/v1/skills", nil, 200}},
		"POST /v1/chat/completions":               {{"/v1/chat/completions", question, 200}},
		"POST /v1/runs":                           {{"/v1/runs", question, 200}},
		"GET /v1/runs":                            lists("/v1/runs"),
		"GET /v1/runs/{run_id}":                   theirs("/v1/runs/{run}", nil),
		"GET /v1/runs/{run_id}/events":            theirs("/v1/runs/{run}/events", nil),
		"GET /v1/runs/{run_id}/stream":            theirs("/v1/runs/{run}/stream", nil),
		"POST /v1/runs/{run_id}/cancel":           theirs("/v1/runs/{run}/cancel", map[string]any{"reason": "gone"}),
		"GET /v1/traces":                          lists("/v1/traces"),
		"GET /v1/traces/{run_id}":                 theirs("/v1/traces/{run}", nil),
		"GET /v1/traces/{run_id}/events":          theirs("/v1/traces/{run}/events", nil),
		"GET /v1/approvals":                       append(lists("/v1/approvals"), probe{"/v1/approvals?run_id=" + o.victim.run, nil, 200}),
		"GET /v1/approvals/{request_id}":          {{"/v1/approvals/" + o.victim.approval, nil, 404}},
		"GET /v1/policy":                          {{"/v1/policy", nil, 200}},
		"POST /v1/policy/check":                   {checked},
		"POST /v1/policy/reload":                  {{"/v1/policy/reload", nil, 401}},
		"POST /v1/plugins/reload":                 {{"/v1/plugins/reload", nil, 401}},
		"GET /v1/audit/export":                    {{"/v1/audit/export", nil, 401}},
		"GET /v1/metrics":                         {{"/v1/metrics", nil, 200}},
		"GET /metrics":                            {{"/metrics", nil, 403}},
		"POST /v1/approvals/{request_id}/approve": {{"/v1/approvals/" + o.victim.approval + "/approve", nil, 404}},
		"POST /v1/approvals/{request_id}/deny":    {{"/v1/approvals/" + o.victim.approval + "/deny", nil, 404}},
	}
}

// routes are what the running service lists.
func (t *town) routes() (routes []string) {
	_, raw := t.request("GET", "/", nil, t.whole...)
	for _, route := range t.object(raw)["endpoints"].([]any) {
		routes = append(routes, route.(string))
	}
	return routes
}

func TestNoRouteShowsAnothersThings(t *testing.T) {
	t.Parallel()
	for mode, c := range map[string]struct {
		config string
		as     credential
	}{"jwt": {signedMode, bySignature(t)}, "trusted_headers": {proxyMode, byProxy}} {
		t.Run(mode, func(t *testing.T) {
			town := newTown(t, c.config, c.as, "")
			before := town.story()
			for _, o := range town.outsiders() {
				known := probes(o)
				for _, route := range town.routes() {
					if len(known[route]) == 0 {
						t.Errorf("route %s has no case: say here what one tenant sees of another's", route)
					}
					for _, p := range known[route] {
						town.tell(t, o, strings.Fields(route)[0], p)
					}
				}
			}
			if after := town.story(); after != before {
				t.Errorf("outsiders changed something:\nbefore %s\nafter %s", before, after)
			}
		})
	}
}

// tell sends a probe, and looks for the victim's marks in the answer.
func (t *town) tell(test *testing.T, o outsider, method string, p probe) {
	test.Helper()
	status, raw := t.request(method, p.path, p.body, o.as.headers...)
	if status != p.status {
		test.Errorf("%s: %s %s: %d, want %d: %s", o.name, method, p.path, status, p.status, raw)
	}
	answer := string(raw)
	if p.body != nil && strings.Contains(p.path, "chat") { // the asker's own words come back
		answer = strings.ReplaceAll(answer, "session-of-"+o.victim.mark, "")
	}
	if strings.HasPrefix(p.path, "/v1/runs") || strings.HasPrefix(p.path, "/v1/traces") {
		answer = strings.ReplaceAll(answer, `"session_id":"session-of-`+o.victim.mark+`"`, "")
	}
	if strings.Contains(p.path, "chat") { // what the model heard last is part of the answer
		heard := t.model.requests()
		answer += string(heard[len(heard)-1].raw)
	}
	for _, mark := range append(o.marks, o.victim.run, o.victim.approval) {
		if strings.Contains(answer, mark) {
			test.Errorf("%s: %s %s shows %s: %.600s", o.name, method, p.path, mark, raw)
		}
	}
}

// story is what became of everybody's runs and approvals, in the eyes of the service token.
func (t *town) story() string {
	var story strings.Builder
	for _, p := range []person{t.ann, t.bob, t.eve} {
		_, raw := t.request("GET", "/v1/runs/"+p.run, nil, t.whole...)
		run := t.object(raw)
		_, raw = t.request("GET", "/v1/approvals/"+p.approval, nil, t.whole...)
		approval := t.object(raw)["approval"].(map[string]any)
		fmt.Fprintln(&story, p.user, run["status"], run["phase"], run["event_count"], approval["status"])
	}
	return story.String()
}

func TestCountsAreOfWhatACredentialSees(t *testing.T) {
	t.Parallel()
	town := newTown(t, signedMode, bySignature(t), "")
	for name, c := range map[string]struct {
		headers         []string
		runs, approvals float64
	}{
		"ann":                {town.ann.headers, 2, 1},
		"bob":                {town.bob.headers, 2, 1},
		"eve":                {town.eve.headers, 2, 1},
		"operator":           {town.redOperator.headers, 4, 2},
		"the other operator": {town.blueOperator.headers, 2, 1},
		"service token":      {town.whole, 6, 3},
		"its tenant":         {append([]string{"X-FastReAct-Tenant-Key", redTenant}, town.whole...), 4, 2},
	} {
		read := func(path string) map[string]any {
			status, raw := town.request("GET", path, nil, c.headers...)
			if status != 200 {
				t.Fatalf("%s: %s: %d %s", name, path, status, raw)
			}
			return town.object(raw)
		}
		metrics := read("/v1/metrics")
		got := []any{
			read("/v1/runs")["total_count"], read("/v1/traces")["total_count"], read("/v1/runs?limit=1")["total_count"],
			metrics["runs"].(map[string]any)["trace_count"],
			read("/v1/approvals")["total_count"], read("/v1/approvals")["pending_count"],
			read("/v1/approvals?limit=1&offset=9")["total_count"], metrics["approvals"].(map[string]any)["pending_count"],
		}
		want := []any{c.runs, c.runs, c.runs, c.runs, c.approvals, c.approvals, c.approvals, c.approvals}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: counts %v, want %v", name, got, want)
		}
	}
}

func TestUsersSeeTheirOwnAndOperatorsTheirTenants(t *testing.T) {
	t.Parallel()
	town := newTown(t, signedMode, bySignature(t), "")
	for _, who := range []person{town.ann, town.redOperator} {
		for _, path := range []string{
			"/v1/runs/" + town.ann.run, "/v1/runs/" + town.ann.run + "/events", "/v1/traces/" + town.ann.run,
			"/v1/traces/" + town.ann.run + "/events", "/v1/approvals/" + town.ann.approval, "/v1/runs/" + sharedID,
		} {
			status, raw := town.request("GET", path, nil, who.headers...)
			if status != 200 || !strings.Contains(string(raw), town.ann.mark) {
				t.Errorf("%s: %s: %d %s", who.user, path, status, raw)
			}
		}
	}
	stream := town.open("GET", "/v1/runs/"+sharedID+"/stream", nil, town.ann.headers...)
	if last := newFrames(t, stream.Body).rest(); last[len(last)-1].event != "done" {
		t.Errorf("own stream: %v", kinds(last))
	}
}

func TestAUserAnswersItsOwnApprovalOnlyWhereSelfSaysSo(t *testing.T) {
	t.Parallel()
	answer := func(town *town, who person, approval string) (int, any) {
		status, raw := town.request("POST", "/v1/approvals/"+approval+"/approve", nil, who.headers...)
		body := town.object(raw)
		if status == 200 {
			return status, body["approval"].(map[string]any)["resolved_by"]
		}
		return status, body["error"].(map[string]any)["code"]
	}
	strict := newTown(t, signedMode, bySignature(t), "")
	if status, code := answer(strict, strict.ann, strict.ann.approval); status != 403 || code != "self_approval_disabled" {
		t.Errorf("own approval: %d %v", status, code)
	}
	if status, by := answer(strict, strict.redOperator, strict.ann.approval); status != 200 || by != strict.redOperator.user {
		t.Errorf("the operator: %d by %v", status, by)
	}
	own := newTown(t, signedMode, bySignature(t), "approvals: {self: true}\n")
	if status, by := answer(own, own.ann, own.ann.approval); status != 200 || by != own.ann.user {
		t.Errorf("own approval where that is allowed: %d by %v", status, by)
	}
	if status, code := answer(own, own.bob, own.eve.approval); status != 404 {
		t.Errorf("another's approval: %d %v", status, code)
	}
}

func TestAnOperatorAsksPolicyAboutItsTenantAndAUserAboutItself(t *testing.T) {
	t.Parallel()
	town := newTown(t, signedMode, bySignature(t), "")
	for name, c := range map[string]struct {
		who    person
		body   map[string]any
		status int
	}{
		"oneself, unsaid":        {town.bob, map[string]any{}, 200},
		"oneself":                {town.bob, map[string]any{"user_key": town.bob.user, "tenant_key": redTenant}, 200},
		"a colleague":            {town.bob, map[string]any{"user_key": town.ann.user}, 403},
		"another tenant":         {town.bob, map[string]any{"tenant_key": blueTenant}, 403},
		"operator, a colleague":  {town.redOperator, map[string]any{"user_key": town.ann.user}, 200},
		"operator, other tenant": {town.redOperator, map[string]any{"user_key": town.eve.user, "tenant_key": blueTenant}, 403},
	} {
		c.body["tool_name"] = "pska_bump"
		status, raw := town.request("POST", "/v1/policy/check", c.body, c.who.headers...)
		if status != c.status || status == 200 && town.object(raw)["tenant_key"] != redTenant {
			t.Errorf("%s: %d, want %d: %s", name, status, c.status, raw)
		}
	}
}

func TestATenantlessRunIsNamedByAnEmptyTenant(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, func(asked) said { return said{text: "hello"} }), "")
	for _, user := range []string{"", "red:ann"} {
		body := ask("q", map[string]any{"stream": false, "user_key": user, "metadata": map[string]any{"run_id": "same"}})
		if status, raw := s.request("POST", "/v1/chat/completions", body); status != 200 {
			t.Fatalf("%d %s", status, raw)
		}
	}
	for tenant, want := range map[string]any{"": nil, "red": "red"} {
		status, raw := s.request("GET", "/v1/runs/same", nil, "X-FastReAct-Tenant-Key", tenant)
		if status != 200 || s.object(raw)["tenant_key"] != want {
			t.Errorf("tenant %q: %d %s", tenant, status, raw)
		}
	}
	if status, _ := s.request("GET", "/v1/runs/same", nil); status != 409 {
		t.Errorf("without a tenant: %d", status)
	}
}

func TestATokenWithoutATenantBelongsToNone(t *testing.T) {
	t.Parallel()
	rules := "policy: {tenant_rules: {red: allow}, default_action: deny}\n"
	s := start(t, newModel(t, searchThenAnswer), signedMode+rules, identityEnv()...)
	bare := []string{"Authorization", "Bearer " + signed(t, tokenSecret, map[string]any{"sub": "red:ann", "roles": []string{"operator"}})}
	body := ask("Question", map[string]any{"stream": false, "user_key": nil, "metadata": map[string]any{"run_id": "r"}})
	if status, raw := s.request("POST", "/v1/chat/completions", body, bare...); status != 200 {
		t.Fatalf("%d %s", status, raw)
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the rule of a tenant that the token does not name let a call pass: %v", calls)
	}
	_, raw := s.request("GET", "/v1/runs/r", nil, bare...)
	if s.object(raw)["tenant_key"] != nil {
		t.Errorf("tenant %v", s.object(raw)["tenant_key"])
	}
	other := []string{"Authorization", "Bearer " + signed(t, tokenSecret, map[string]any{"sub": "red:bob", "roles": []string{"operator"}})}
	if status, raw := s.request("GET", "/v1/runs/r", nil, other...); status != 404 {
		t.Errorf("an operator of no tenant: %d %s", status, raw)
	}
}
