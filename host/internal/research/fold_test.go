package research

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

var morning = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// told makes entries of lines of "kind body".
func told(text string) []run.ResearchEntry {
	var entries []run.ResearchEntry
	for i, line := range strings.Split(text, "\n") {
		kind, body, _ := strings.Cut(line, " ")
		entries = append(entries, run.ResearchEntry{
			Sequence: int64(i + 1), Workspace: "alpha", Kind: run.ResearchKind(kind), At: morning, Body: json.RawMessage(body),
		})
	}
	return entries
}

const (
	aPlan     = `plan {"plan_id":"p","selection":["o"],"actions":[{"action_id":"a","wave":1},{"action_id":"b","wave":2}]}`
	aGrant    = `grant {"plan_id":"p","grant_id":"g","expires_at":"2026-03-01T10:00:00Z","choices":[{"action_id":"a","choice":"AUTHORIZE"}],"covers":[{"action_id":"a"}]}`
	aCampaign = `campaign {"plan_id":"p","campaign_id":"c","grant_id":"g","calls":[{"action_id":"a","call_id":"k"}]}`
	aResult   = `result {"plan_id":"p","campaign_id":"c","action_id":"a","status":"NEW"}`
	aRefusal  = `grant {"plan_id":"p","choices":[{"action_id":"a","choice":"REFUSE"}]}`
	anEnd     = `revocation {"plan_id":"p","grant_id":"g"}`
)

func lines(all ...string) string { return strings.Join(all, "\n") }

func TestEntriesThatDoNotFitTogetherAreNoState(t *testing.T) {
	for name, text := range map[string]string{
		"a grant without a plan":          aGrant,
		"an unknown kind":                 lines(aPlan, "gift {}"),
		"a plan without actions":          `plan {"plan_id":"p","selection":["o"]}`,
		"a plan with an action twice":     `plan {"plan_id":"p","selection":["o"],"actions":[{"action_id":"a"},{"action_id":"a"}]}`,
		"no JSON":                         lines(aPlan, "grant {"),
		"a grant of another plan":         lines(aPlan, strings.Replace(aGrant, `"p"`, `"q"`, 1)),
		"a grant twice":                   lines(aPlan, aGrant, aGrant),
		"a grant that covers nothing":     lines(aPlan, `grant {"plan_id":"p","grant_id":"g"}`),
		"a grant without a name":          lines(aPlan, strings.Replace(aGrant, `"g"`, `""`, 1)),
		"a grant of a refused action":     lines(aPlan, aRefusal, aGrant),
		"a grant of a deferred action":    lines(aPlan, strings.Replace(aGrant, "AUTHORIZE", "DEFER", 1)),
		"an unknown choice":               lines(aPlan, strings.Replace(aGrant, "AUTHORIZE", "MAYBE", 1)),
		"a campaign without a grant":      lines(aPlan, aCampaign),
		"a campaign of an action twice":   lines(aPlan, aGrant, aCampaign, strings.Replace(aCampaign, `"c"`, `"d"`, 1)),
		"a campaign beyond its grant":     lines(aPlan, aGrant, strings.Replace(aCampaign, `"a"`, `"b"`, 1)),
		"a campaign without a call":       lines(aPlan, aGrant, strings.Replace(aCampaign, `"k"`, `""`, 1)),
		"a result without a campaign":     lines(aPlan, aGrant, aResult),
		"a result twice":                  lines(aPlan, aGrant, aCampaign, aResult, aResult),
		"a result that nobody can know":   lines(aPlan, aGrant, aCampaign, strings.Replace(aResult, "NEW", "UNKNOWN", 1)),
		"a revocation without a grant":    lines(aPlan, anEnd),
		"a revocation of an earlier plan": lines(aPlan, aGrant, aPlan, anEnd),
	} {
		if got, err := fold(told(text)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSequencesAscend(t *testing.T) {
	entries := told(lines(aPlan, aGrant))
	entries[1].Sequence = 1
	if _, err := fold(entries); err == nil {
		t.Error("no error")
	}
}

// FuzzNoEntriesInventALiveGrant holds that whatever the ledger returns, a grant is live only when an entry after the
// newest plan made it, nothing revoked it, and no action that it covers was refused before.
func FuzzNoEntriesInventALiveGrant(f *testing.F) {
	for _, seed := range []string{
		"", aPlan, lines(aPlan, aGrant), lines(aPlan, aGrant, aCampaign), lines(aPlan, aGrant, aCampaign, aResult),
		lines(aPlan, aGrant, anEnd), lines(aPlan, aGrant, aRefusal), lines(aPlan, aRefusal, aGrant), lines(aPlan, aGrant, aPlan),
		lines(aPlan, `grant null`), lines(`plan {"plan_id":"p","selection":["o"],"actions":[{"action_id":"a","wave":-9}]}`, aGrant),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries := told(text)
		s, err := fold(entries)
		shown := s.snapshot()
		if _, failure := Encode(shown); failure != nil {
			t.Fatal(failure)
		}
		if err != nil && (len(s.grants) > 0 || s.released(s.plan.PlanID, morning)) {
			t.Fatalf("a state beside the error %v", err)
		}
		for _, g := range s.grants {
			if g.live(morning) {
				mustBeMade(t, entries, g)
			}
			for _, covered := range g.Covers {
				if err := s.startable(g, covered.ActionID); err == nil && s.choice(covered.ActionID) != Authorize {
					t.Errorf("an action that is %s may start", s.choice(covered.ActionID))
				}
			}
		}
	})
}

// mustBeMade fails unless the entries after the newest plan make a grant and do not end it.
func mustBeMade(t *testing.T, entries []run.ResearchEntry, g grantRecord) {
	t.Helper()
	made := false
	for _, entry := range entries {
		var named struct {
			PlanID  string `json:"plan_id"`
			GrantID string `json:"grant_id"`
		}
		_ = json.Unmarshal(entry.Body, &named)
		switch {
		case entry.Kind == run.ResearchPlan:
			made = false
		case named.GrantID == g.GrantID && entry.Kind == run.ResearchGrant:
			made = true
		case named.GrantID == g.GrantID && entry.Kind == run.ResearchRevocation:
			made = false
		}
	}
	if !made || g.GrantID == "" {
		t.Errorf("nobody made grant %q: %s", g.GrantID, fmt.Sprint(entries))
	}
}
