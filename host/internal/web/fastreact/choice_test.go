package fastreact

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// unknown is an approval about a call of which nobody knows whether it took effect.
func unknown() run.Approval {
	a := waiting()
	a.Kind = run.UnknownOutcome
	return a
}

func TestAnUnknownOutcomeOffersItsChoices(t *testing.T) {
	server := open(t, newBook(nil), atDesk(&desk{approval: unknown()}))
	_, body := call(t, server, "GET", "/v1/approvals/approval-123", "")
	want := `"kind":"outcome_unknown","choices":["retry","treat_as_done","abort"],"choice":null}}`
	if !strings.HasSuffix(body, want) {
		t.Errorf("%s does not end with %s", body, want)
	}
}

func TestAChoiceReachesTheDesk(t *testing.T) {
	for _, c := range []struct{ path, choice string }{
		{"approve", "retry"}, {"approve", "treat_as_done"}, {"approve", "abort"}, {"deny", "abort"}, {"deny", ""},
	} {
		d := &desk{approval: unknown()}
		server := open(t, newBook(nil), atDesk(d))
		sent := `{"reason":"looked at it","choice":"` + c.choice + `"}`
		if c.choice == "" {
			sent = `{"reason":"looked at it","choice":null}`
		}
		_, body := call(t, server, "POST", "/v1/approvals/approval-123/"+c.path, sent, "X-FastReAct-User-Key", "op")
		want := run.Answer{
			ID: "approval-123", Approve: c.path == "approve", Choice: run.Choice(c.choice), By: "op", Reason: "looked at it",
		}
		if diff := cmp.Diff(want, d.answer); diff != "" {
			t.Errorf("%s %q: %s", c.path, c.choice, diff)
		}
		var shown any = c.choice
		if c.choice == "" {
			shown = nil
		}
		if got := object(t, body)["approval"].(map[string]any)["choice"]; got != shown {
			t.Errorf("%s %q: the record says %v", c.path, c.choice, got)
		}
	}
}

func TestAChoiceThatIsNoneIsRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"approve", `"maybe"`},
		{"approve", `""`},
		{"approve", "1"},
		{"deny", `"retry"`},
		{"deny", `"treat_as_done"`},
		{"deny", `["abort"]`},
	} {
		d := &desk{approval: unknown()}
		server := open(t, newBook(nil), atDesk(d))
		response, body := call(t, server, "POST", "/v1/approvals/approval-123/"+c[0], `{"choice":`+c[1]+`}`)
		status, got := code(t, response, body)
		if status != http.StatusUnprocessableEntity || got != "invalid_request" || !strings.Contains(body, `"loc":["body","choice"]`) {
			t.Errorf("%s %s: %d %s", c[0], c[1], status, body)
		}
		if d.approval.Status != run.Pending {
			t.Errorf("%s %s was taken", c[0], c[1])
		}
	}
}

func TestAMissingChoiceIsAskedFor(t *testing.T) {
	d := &desk{approval: unknown(), failure: &run.Error{Code: run.CodeChoice, Sentence: "Say what to do."}}
	response, body := call(t, open(t, newBook(nil), atDesk(d)), "POST", "/v1/approvals/approval-123/approve", "")
	if status, got := code(t, response, body); status != http.StatusUnprocessableEntity || got != "choice_required" {
		t.Errorf("%d %s", status, got)
	}
}

// change sends requests that change something.
type change struct{ server *httptest.Server }

// keyed sends a change with a key and returns status and code.
func (c change) keyed(t *testing.T, path, body, key string) (int, string) {
	t.Helper()
	response, answered := call(t, c.server, "POST", path, body, "Idempotency-Key", key)
	if response.StatusCode == http.StatusOK {
		return response.StatusCode, ""
	}
	return code(t, response, answered)
}

func TestAKeyStandsForOneChange(t *testing.T) {
	approve, deny, cancel := "/v1/approvals/approval-123/approve", "/v1/approvals/approval-123/deny", "/v1/runs/run-1/cancel"
	for name, again := range map[string]struct {
		path, body, other, otherBody string
		status                       int
	}{
		"the same":                        {approve, `{"reason":"a","x":1}`, approve, `{"x":1,"reason":"a"}`, 200},
		"no body and an empty one":        {approve, "", approve, "{}", 200},
		"another reason":                  {approve, `{"reason":"a"}`, approve, `{"reason":"b"}`, 409},
		"another choice":                  {approve, `{"choice":"retry"}`, approve, `{"choice":"abort"}`, 409},
		"the opposite":                    {approve, "", deny, "", 409},
		"the same refusal":                {deny, "", deny, "", 200},
		"the same cancel":                 {cancel, `{"reason":"a"}`, cancel, `{"reason":"a"}`, 200},
		"another cancel":                  {cancel, `{"reason":"a"}`, cancel, "", 409},
		"the cancel of another run":       {cancel, "", "/v1/runs/run-2/cancel", "", 409},
		"another field that nobody knows": {approve, `{"x":1}`, approve, `{"x":2}`, 409},
	} {
		b, d := newBook(nil), &desk{approval: unknown()}
		c := change{open(t, b, atDesk(d))}
		for _, id := range []string{"run-1", "run-2"} {
			call(t, c.server, "POST", "/v1/runs", strings.Replace(question, "run-1", id, 1)+"}")
		}
		if status, got := c.keyed(t, again.path, again.body, "k-1"); status != 200 {
			t.Errorf("%s: %d %s", name, status, got)
		}
		status, got := c.keyed(t, again.other, again.otherBody, "k-1")
		if status != again.status || status == 409 && got != "idempotency_key_reused" {
			t.Errorf("%s: %d %s, want %d", name, status, got, again.status)
		}
		if status, got := c.keyed(t, again.other, again.otherBody, "k-2"); status != 200 {
			t.Errorf("%s with another key: %d %s", name, status, got)
		}
	}
}

func TestAChangeWithoutAKeyIsARequestOfItsOwn(t *testing.T) {
	d := &desk{approval: waiting()}
	call(t, open(t, newBook(nil), atDesk(d)), "POST", "/v1/approvals/approval-123/approve", "")
	if d.answer.Idempotency != (run.Idempotency{}) {
		t.Errorf("%+v", d.answer.Idempotency)
	}
}

func TestABrokenKeyOfAChangeIsRefused(t *testing.T) {
	b := newBook(nil)
	c := change{open(t, b, atDesk(&desk{approval: waiting()}))}
	call(t, c.server, "POST", "/v1/runs", question+"}")
	for _, path := range []string{"/v1/approvals/approval-123/approve", "/v1/approvals/approval-123/deny", "/v1/runs/run-1/cancel"} {
		for _, key := range []string{"", "a b", strings.Repeat("k", 256), "ä"} {
			if status, got := c.keyed(t, path, "", key); status != 400 || got != "invalid_idempotency_key" {
				t.Errorf("%s %q: %d %s", path, key, status, got)
			}
		}
	}
}

func TestAKeyDoesNotOpenTheDeskToWhoMayNotAnswer(t *testing.T) {
	a := waiting()
	d := &desk{approval: a}
	server := open(t, newBook(nil), atDesk(d), func(_ *Config, door *web.Config) {
		door.Auth, door.Proxies = web.AuthTrustedHeaders, loopback()
	})
	response, body := call(t, server, "POST", "/v1/approvals/approval-123/approve", "",
		"Idempotency-Key", "k", "X-FastReAct-User-Key", a.UserKey, "X-FastReAct-Tenant-Key", "pska")
	if status, got := code(t, response, body); status != 403 || got != "self_approval_disabled" || d.approval.Status != run.Pending {
		t.Errorf("%d %s", status, got)
	}
}

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}
