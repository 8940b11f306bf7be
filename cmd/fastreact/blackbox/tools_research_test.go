package blackbox

import (
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

const (
	grantsPath    = "/api/v1/research/grants"
	campaignsPath = "/api/v1/research/campaigns"
	revokePath    = "/api/v1/research/revoke"
	preparePath   = "/api/v1/research/prepare"
)

// with is a body with some keys changed; a key without a value is left out.
func with(body map[string]any, pairs ...any) map[string]any {
	changed := maps.Clone(body)
	changed["idempotency_key"] = uuid()
	for i := 0; i+1 < len(pairs); i += 2 {
		if changed[pairs[i].(string)] = pairs[i+1]; pairs[i+1] == missing {
			delete(changed, pairs[i].(string))
		}
	}
	return changed
}

// missing is the value of a key that is not there.
const missing = "(missing)"

// researchRefuses begins where wave 1 has run and all is granted.
func researchRefuses(t *testing.T, s *station, provider *archive) {
	plan := s.see("/api/v1/research")
	ids := actionsOf(plan)
	grant := plan["grants"].([]any)[0].(map[string]any)["grant_id"].(string)
	_, asked := provider.met()
	refused := func(want, path, what string, body any) {
		t.Helper()
		if got := s.post(path, body); got.outcome() != want {
			t.Errorf("%s: %d %s, want %s", what, got.status, got.raw, want)
		}
	}
	const no, invalid, conflict = "409 research_refused", "400 research_invalid", "409 research_idempotency_conflict"
	good, launched := decision(plan, 3), launch(plan, 2)
	refused(no, campaignsPath, "wave 3 before wave 2", launch(plan, 3))
	refused(no, campaignsPath, "waves 2 and 3 at once", with(launched, "action_ids", ids[1:]))
	refused(no, campaignsPath, "an action that ran", launch(plan, 1))
	refused(no, campaignsPath, "an unknown grant", with(launched, "grant_id", uuid()))
	refused(no, campaignsPath, "an unknown action", with(launched, "action_ids", []string{uuid()}))
	refused(no, campaignsPath, "another revision", with(launched, "input_revision", 999))
	refused(no, grantsPath, "an unknown plan", with(good, "plan_id", uuid()))
	refused(no, grantsPath, "another revision", with(good, "input_revision", 999))
	refused(no, grantsPath, "an action that ran", good)
	refused(no, grantsPath, "an unknown action", with(good, "selected_action_ids", []string{uuid()}, "decisions", []any{}))
	refused(no, revokePath, "an unknown grant", map[string]any{"grant_id": uuid()})
	s.changedMeanwhile(t, with(good, "selected_action_ids", ids[1:], "decisions", choices("AUTHORIZE", ids[1:]...)), launched)
	for path, body := range map[string]map[string]any{
		grantsPath: good, campaignsPath: launched,
		preparePath: {"selection_ids": []string{plan["actions"].([]any)[0].(map[string]any)["subject"].(string)}, "question": "Why?", "exclusions": []any{}},
	} {
		for what, changed := range badDecisions(body) {
			refused(invalid, path, path+" with "+what, changed)
		}
	}
	for _, body := range []string{`{}`, `{"grant_id":""}`, `{"grant_id":null}`, `{"grant_id":7}`, `{"grant_id":"x","more":1}`} {
		refused(invalid, revokePath, "revoke with "+body, body)
	}
	refused("409 research_refused", preparePath, "an unknown object", map[string]any{"selection_ids": []string{uuid()}, "question": "Why?", "exclusions": []any{}, "idempotency_key": uuid()})
	if diff := cmp.Diff(plan, s.see("/api/v1/research")); diff != "" {
		t.Errorf("refusals changed the plan (-before +after):\n%s", diff)
	}
	s.refusedLater(t, ids, grant)
	if _, now := provider.met(); len(now) != len(asked) {
		t.Errorf("%d requests reached the provider, before %d", len(now), len(asked))
	}
	s.replayedDecisions(t, conflict)
}

func choices(choice string, ids ...string) []any {
	all := []any{}
	for _, id := range ids {
		all = append(all, map[string]any{"action_id": id, "decision": choice})
	}
	return all
}

// badDecisions are bodies with one thing wrong.
func badDecisions(body map[string]any) map[string]map[string]any {
	all := map[string]map[string]any{"one key more": with(body, "more", 1)}
	for key := range with(body) {
		all["no "+key], all[key+" null"] = with(body, key, missing), with(body, key, nil)
		all[key+" true"], all[key+" an object"] = with(body, key, true), with(body, key, map[string]any{})
		other := with(body, key, missing)
		other[strings.ToUpper(key[:1])+key[1:]] = body[key]
		all[key+" with a capital"] = other
	}
	all["an empty key"] = with(body, "idempotency_key", "")
	if _, is := body["plan_id"]; is {
		id := body["selected_action_ids"].([]string)[0]
		all["an unknown choice"] = with(body, "decisions", choices("ALLOW", id))
		all["a choice in small letters"] = with(body, "decisions", choices("authorize", id))
		all["an action decided twice"] = with(body, "decisions", choices("AUTHORIZE", id, id))
		all["an action selected twice"] = with(body, "selected_action_ids", []string{id, id})
		all["nothing decided"] = with(body, "decisions", []any{}, "selected_action_ids", []any{})
		all["a text as a decision"] = with(body, "decisions", []any{"AUTHORIZE"})
		all["one key more in a decision"] = with(body, "decisions", []any{map[string]any{"action_id": id, "decision": "AUTHORIZE", "grant": true}})
		all["a broken revision"] = with(body, "input_revision", 1.5)
	}
	return all
}

// changedMeanwhile lets the graph get another revision after the plan was made, and takes that back.
func (s *station) changedMeanwhile(t *testing.T, granting, launching map[string]any) {
	t.Helper()
	folder, was := filepath.Join(s.folder, "site-harbour"), specimen.Harbour()
	next := specimen.Workspace{Core: []byte(strings.Replace(string(was.Core), `"revision": 7`, `"revision": 8`, 1)), Jobs: was.Jobs}
	if string(next.Core) == string(was.Core) {
		t.Fatal("the revision was not changed")
	}
	if err := specimen.Write(folder, next); err != nil {
		t.Fatal(err)
	}
	for _, revision := range []int{7, 8} {
		if got := s.post(grantsPath, with(granting, "input_revision", revision)); got.outcome() != "409 research_refused" {
			t.Errorf("a grant for revision %d after a change: %d %s", revision, got.status, got.raw)
		}
		if got := s.post(campaignsPath, with(launching, "input_revision", revision)); got.outcome() != "409 research_refused" {
			t.Errorf("a campaign for revision %d after a change: %d %s", revision, got.status, got.raw)
		}
	}
	if err := specimen.Write(folder, was); err != nil {
		t.Fatal(err)
	}
}

// refusedLater refuses the third action and tries to have it all the same; then it revokes the grant and tries to use it.
func (s *station) refusedLater(t *testing.T, ids []string, grant string) {
	t.Helper()
	body := map[string]any{"plan_id": s.see("/api/v1/research")["plan_id"], "input_revision": 7, "exclusions": []any{}}
	only := s.did(200, grantsPath, with(body, "selected_action_ids", []any{}, "decisions", choices("REFUSE", ids[2])))
	if len(only["grants"].([]any)) != 1 || only["actions"].([]any)[2].(map[string]any)["decision"] != "REFUSE" {
		t.Errorf("a decision that only refuses: %v", only)
	}
	for what, changed := range map[string]map[string]any{
		"authorised later":         with(body, "selected_action_ids", ids[2:], "decisions", choices("AUTHORIZE", ids[2])),
		"deferred later":           with(body, "selected_action_ids", []any{}, "decisions", choices("DEFER", ids[2])),
		"selected later":           with(body, "selected_action_ids", ids[2:], "decisions", choices("AUTHORIZE", ids[1])),
		"selected though deferred": with(body, "selected_action_ids", ids[1:2], "decisions", choices("DEFER", ids[1])),
		"excluded":                 with(body, "selected_action_ids", ids[1:2], "decisions", choices("AUTHORIZE", ids[1]), "exclusions", []any{"archive"}),
	} {
		if got := s.post(grantsPath, changed); got.outcome() != "409 research_refused" {
			t.Errorf("%s: %d %s", what, got.status, got.raw)
		}
	}
	wanted := map[string]any{"grant_id": grant, "input_revision": 7, "action_ids": ids[1:2]}
	revoked := s.did(200, revokePath, map[string]any{"grant_id": grant})
	at, _ := revoked["grants"].([]any)[0].(map[string]any)["revoked_at"].(string)
	if !timeForm.MatchString(at) {
		t.Errorf("revoked at %q", at)
	}
	if got := s.post(campaignsPath, with(wanted)); got.outcome() != "409 research_refused" {
		t.Errorf("a campaign under a revoked grant: %d %s", got.status, got.raw)
	}
}

// replayedDecisions sends a plan, a decision and a campaign twice each, and then another with the same key.
func (s *station) replayedDecisions(t *testing.T, conflict string) {
	t.Helper()
	subject := s.see("/api/v1/research")["actions"].([]any)[0].(map[string]any)["subject"].(string)
	prepare := map[string]any{"selection_ids": []string{subject}, "question": "Once more?", "exclusions": []any{}, "idempotency_key": uuid()}
	plan := s.did(200, preparePath, prepare)
	checkUndecided(t, plan)
	granting := decision(plan, 1)
	granted := s.did(200, grantsPath, granting)
	grant := granted["grants"].([]any)[0].(map[string]any)
	for key, form := range map[string]bool{
		"grant_id": uuidForm.MatchString(grant["grant_id"].(string)), "created_at": timeForm.MatchString(grant["created_at"].(string)),
		"expires_at": timeForm.MatchString(grant["expires_at"].(string)), "revoked_at": grant["revoked_at"] == nil,
	} {
		if !form {
			t.Errorf("%s of a grant is %v", key, grant[key])
		}
	}
	launching := launch(granted, 1)
	s.did(200, campaignsPath, launching)
	now := s.see("/api/v1/research")
	if now["actions"].([]any)[0].(map[string]any)["result_status"] != "NEW" {
		t.Errorf("the answer to a new question: %v", now["actions"])
	}
	for path, body := range map[string]map[string]any{preparePath: prepare, grantsPath: granting, campaignsPath: launching} {
		if diff := cmp.Diff(now, s.did(200, path, body)); diff != "" {
			t.Errorf("%s again (-before +after):\n%s", path, diff)
		}
		for key, value := range map[string]any{"question": "Another?", "selected_action_ids": []any{}, "action_ids": actionsOf(plan)[1:2]} {
			if _, has := body[key]; !has {
				continue
			}
			other := maps.Clone(body)
			other[key] = value
			if got := s.post(path, other); got.outcome() != conflict {
				t.Errorf("%s with another %s: %d %s", path, key, got.status, got.raw)
			}
		}
	}
	s.did(200, revokePath, map[string]any{"grant_id": grant["grant_id"]})
	if again := s.did(200, preparePath, with(prepare)); again["plan_id"] == plan["plan_id"] || again["plan_fingerprint"] == nil {
		t.Errorf("a new plan: %v", again["plan_id"])
	}
}

// campaignIsKilled kills the service while the provider has not answered yet.
func campaignIsKilled(t *testing.T, s *station, provider *archive) {
	subject := s.see("/api/v1/research")["actions"].([]any)[0].(map[string]any)["subject"].(string)
	plan := s.did(200, preparePath, map[string]any{"selection_ids": []string{subject}, "question": "And then?", "exclusions": []any{}, "idempotency_key": uuid()})
	granted := s.did(200, grantsPath, decision(plan, 2))
	launching := launch(granted, 1)
	_, before := provider.met()
	hold := make(chan struct{})
	provider.mu.Lock()
	provider.hold = hold
	provider.mu.Unlock()
	var left sync.WaitGroup
	left.Go(func() {
		request, err := http.NewRequest("POST", "http://"+s.authority+campaignsPath, strings.NewReader(string(mustJSON(t, launching))))
		if err != nil {
			t.Error(err)
			return
		}
		for name, value := range map[string]string{"Cookie": s.cookie, "Origin": "http://" + s.authority, "X-Labfy-CSRF": s.csrf, "Content-Type": "application/json"} {
			request.Header.Set(name, value)
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			t.Errorf("the killed service answers %d", response.StatusCode)
		}
	})
	s.await(waitForTurns, func() (bool, string) {
		_, now := provider.met()
		return len(now) > len(before), "the provider is never asked"
	})
	s.kill()
	left.Wait()
	close(hold)
	awaitGone(t, s.command.Process.Pid)
	s.run()
	s.enter()
	lost := s.see("/api/v1/research")
	if action := lost["actions"].([]any)[0].(map[string]any); action["contacted"] != true || action["result_status"] != "UNKNOWN" {
		t.Errorf("after the kill: %v", action)
	}
	if diff := cmp.Diff(lost, s.did(200, campaignsPath, launching)); diff != "" {
		t.Errorf("the campaign again (-before +after):\n%s", diff)
	}
	if got := s.post(campaignsPath, with(launching)); got.outcome() != "409 research_refused" {
		t.Errorf("another campaign of the action: %d %s", got.status, got.raw)
	}
	if _, now := provider.met(); len(now) != len(before)+1 {
		t.Errorf("%d requests reached the provider, want one", len(now)-len(before))
	}
}
