package research_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestAPlanHasThreeWavesThatNobodyHasDecided(t *testing.T) {
	w := newWorld(t)
	_, got := w.prepared()
	want := research.Snapshot{
		State: research.Prepared, InputRevision: 7, CreatedAt: w.clock.Now(), Question: "Who signed it?",
		Actions: []research.Action{
			action("labfy.capability.research.source_check.v1", 1),
			action("labfy.capability.research.counter_check.v1", 2),
			action("labfy.capability.research.archive_check.v1", 3),
		},
	}
	ids := cmpopts.IgnoreFields(research.Snapshot{}, "PlanID", "Fingerprint")
	if diff := cmp.Diff(want, got, ids, cmpopts.IgnoreFields(research.Action{}, "ActionID")); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func action(capability string, wave int) research.Action {
	return research.Action{
		CapabilityID: capability, ProviderID: "archive", Subject: object, Contact: research.ContactPassive,
		Disclosure: research.DiscloseQuestions, MaxRequests: 1, MaxResponseBytes: 4096, MaxActive: 5 * time.Second,
		Decision: research.Defer, Wave: wave,
	}
}

func TestPreparingMakesNoGrantNoCampaignAndNoContact(t *testing.T) {
	w := newWorld(t)
	w.prepared()
	w.wantContacts(0)
	if diff := cmp.Diff([]run.ResearchKind{run.ResearchPlan}, w.book.kinds()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if len(w.recorder.notes) > 0 {
		t.Errorf("calls: %+v", w.recorder.notes)
	}
}

func TestWithoutProvidersAPlanContactsNobody(t *testing.T) {
	w := newWorld(t)
	w.providers = nil
	_, plan := w.prepared()
	for _, a := range plan.Actions {
		if a.ProviderID != "none" || a.Contact != research.ContactNone || a.Disclosure != research.DiscloseNothing {
			t.Errorf("action %+v", a)
		}
	}
}

func TestProvidersServeWavesInTheirOrderAndTheLastTheRest(t *testing.T) {
	w := newWorld(t)
	w.providers = append(w.providers, research.Provider{ID: "registry", URL: w.provider.url, Client: &http.Client{}})
	_, plan := w.prepared()
	got := []string{plan.Actions[0].ProviderID, plan.Actions[1].ProviderID, plan.Actions[2].ProviderID}
	if diff := cmp.Diff([]string{"archive", "registry", "registry"}, got); diff != "" {
		t.Errorf("providers (-want +got):\n%s", diff)
	}
}

func TestEqualPlansHaveEqualFingerprintsAndActionsOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	desk, first := w.prepared()
	second := w.prepare(desk)
	if first.Fingerprint != second.Fingerprint || first.Fingerprint == "" {
		t.Errorf("fingerprints %q and %q", first.Fingerprint, second.Fingerprint)
	}
	if first.PlanID == second.PlanID || first.Actions[0].ActionID == second.Actions[0].ActionID {
		t.Error("the second plan is the first")
	}
	w.revision++
	if third := w.prepare(desk); third.Fingerprint == first.Fingerprint {
		t.Error("another graph has the same fingerprint")
	}
}

func TestANewPlanLeavesTheGrantsOfTheOldOneBehind(t *testing.T) {
	w := newWorld(t)
	desk, old := w.granted()
	must(t)(desk.Campaign(t.Context(), space, launch(old, old.Actions[0].ActionID)))
	fresh := w.prepare(desk)
	if len(fresh.Grants) > 0 || len(fresh.Campaigns) > 0 || fresh.Actions[0].Contacted {
		t.Errorf("new plan %+v", fresh)
	}
	for name, asked := range map[string]research.Launch{
		"an action of the new plan": {GrantID: old.Grants[0].GrantID, InputRevision: 7, ActionIDs: actions(fresh)[:1]},
		"an action of the old plan": {GrantID: old.Grants[0].GrantID, InputRevision: 7, ActionIDs: actions(old)[1:2]},
	} {
		_, err := desk.Campaign(t.Context(), space, asked)
		t.Log(name)
		wantRefusal(t, err, research.CodeRefused, "There is no such grant of the present plan.")
	}
	_, err := desk.Revoke(t.Context(), space, old.Grants[0].GrantID)
	wantRefusal(t, err, research.CodeRefused, "There is no such grant of the present plan.")
	w.wantContacts(1)
}

func TestWhatIsExcludedIsLeftOutOfThePlan(t *testing.T) {
	for name, c := range map[string]struct {
		selection, exclusions []string
		want                  []string
	}{
		"a capability": {[]string{object}, []string{"labfy.capability.research.counter_check.v1"}, []string{"1 " + object, "3 " + object}},
		"in any case":  {[]string{object}, []string{" LABFY.capability.research.counter_check.v1 "}, []string{"1 " + object, "3 " + object}},
		"an object": {
			[]string{object, other}, []string{object}, []string{"1 " + other, "2 " + other, "3 " + other},
		},
		"nothing that is there": {
			[]string{object, other},
			[]string{"the weather"},
			[]string{"1 " + object + "," + other, "2 " + object + "," + other, "3 " + object + "," + other},
		},
	} {
		t.Run(name, func(t *testing.T) {
			desk := newWorld(t).desk()
			plan := must(t)(desk.Prepare(t.Context(), space, research.Preparation{SelectionIDs: c.selection, Question: "?", Exclusions: c.exclusions}))
			got := []string{}
			for _, a := range plan.Actions {
				got = append(got, strconv.Itoa(a.Wave)+" "+a.Subject)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPlanOfWhichEverythingIsExcludedIsRefused(t *testing.T) {
	for _, text := range []string{object, "archive"} {
		w := newWorld(t)
		asked := preparation()
		asked.Exclusions = []string{text}
		_, err := w.desk().Prepare(t.Context(), space, asked)
		wantRefusal(t, err, research.CodeRefused, "Nothing is left of the plan: everything is excluded.")
		if len(w.book.entries) > 0 {
			t.Errorf("entries: %+v", w.book.entries)
		}
	}
}

func TestAnUnknownObjectHasNoPlan(t *testing.T) {
	w := newWorld(t)
	w.objects = []string{object}
	asked := preparation()
	asked.SelectionIDs = []string{object, other}
	_, err := w.desk().Prepare(t.Context(), space, asked)
	wantRefusal(t, err, research.CodeRefused, "An object of the selection is not in the workspace.")
}

func TestAGraphThatCannotBeReadIsUnavailable(t *testing.T) {
	w := newWorld(t)
	w.lookErr = errors.New("/srv/secret: permission denied")
	_, err := w.desk().Prepare(t.Context(), space, preparation())
	wantRefusal(t, err, research.CodeUnavailable, "The workspace's graph cannot be read.")
}

func TestAPreparationThatIsWrongIsInvalid(t *testing.T) {
	many := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
	for name, change := range map[string]func(*research.Preparation){
		"no object":           func(p *research.Preparation) { p.SelectionIDs = nil },
		"nine objects":        func(p *research.Preparation) { p.SelectionIDs = many },
		"an object twice":     func(p *research.Preparation) { p.SelectionIDs = []string{object, object} },
		"no object's id":      func(p *research.Preparation) { p.SelectionIDs = []string{"../../etc/passwd"} },
		"two ids in one":      func(p *research.Preparation) { p.SelectionIDs = []string{object + "," + other} },
		"no question":         func(p *research.Preparation) { p.Question = " \n" },
		"a long question":     func(p *research.Preparation) { p.Question = strings.Repeat("é", 513) },
		"a question with NUL": func(p *research.Preparation) { p.Question = "a\x00b" },
		"no UTF-8":            func(p *research.Preparation) { p.Question = "\xff" },
		"nine exclusions":     func(p *research.Preparation) { p.Exclusions = many },
		"an empty exclusion":  func(p *research.Preparation) { p.Exclusions = []string{""} },
		"a long key":          func(p *research.Preparation) { p.Key = strings.Repeat("k", 129) },
	} {
		t.Run(name, func(t *testing.T) {
			asked := preparation()
			change(&asked)
			_, err := newWorld(t).desk().Prepare(t.Context(), space, asked)
			if !run.IsCode(err, research.CodeInvalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAQuestionMayHave512Characters(t *testing.T) {
	asked := preparation()
	asked.Question = strings.Repeat("é", 512)
	must(t)(newWorld(t).desk().Prepare(t.Context(), space, asked))
}

func TestAPlanThatIsTooLargeToKeepIsRefused(t *testing.T) {
	w := newWorld(t)
	w.limits.EntryBytes = 500
	_, err := w.desk().Prepare(t.Context(), space, preparation())
	wantRefusal(t, err, research.CodeLimit, "The request is too large to be kept.")
}

func TestARepeatedPreparationMakesOnePlan(t *testing.T) {
	w := newWorld(t)
	desk := w.desk()
	asked := preparation()
	asked.Key = "k"
	first := must(t)(desk.Prepare(t.Context(), space, asked))
	w.revision++ // what is repeated is not compared with the graph again
	second := must(t)(desk.Prepare(t.Context(), space, asked))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("snapshots (-first +second):\n%s", diff)
	}
	asked.Question = "Who else?"
	_, err := desk.Prepare(t.Context(), space, asked)
	wantRefusal(t, err, research.CodeConflict, "The idempotency key belongs to another request.")
}

func TestAKeyOfAPlanIsNoKeyOfAGrant(t *testing.T) {
	w := newWorld(t)
	desk := w.desk()
	asked := preparation()
	asked.Key = "k"
	plan := must(t)(desk.Prepare(t.Context(), space, asked))
	decision := authorises(plan, actions(plan)...)
	decision.Key = "k"
	_, err := desk.Grant(t.Context(), space, decision)
	wantRefusal(t, err, research.CodeConflict, "The idempotency key belongs to another request.")
}

func TestWorkspacesDoNotSeeEachOther(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	foreign := must(t)(desk.Snapshot(t.Context(), "beta"))
	if foreign.State != research.Empty {
		t.Errorf("beta sees %+v", foreign)
	}
	if released, err := desk.Released(t.Context(), "beta", plan.PlanID); released || err != nil {
		t.Errorf("released in beta: %v, %v", released, err)
	}
	_, err := desk.Campaign(t.Context(), "beta", launch(plan, plan.Actions[1].ActionID))
	wantRefusal(t, err, research.CodeRefused, "There is no plan.")
}

func TestADamagedPlanGrantsNothingAndANewOneLeavesItBehind(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	w.book.entries = append(w.book.entries, run.ResearchEntry{
		Sequence: 99, Workspace: space, Kind: run.ResearchRevocation, Body: json.RawMessage(`{"grant_id":"another"}`),
	})
	if _, err := desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)); err == nil {
		t.Error("a campaign was admitted")
	}
	w.wantContacts(0)
	w.book.entries[len(w.book.entries)-1].Sequence = int64(len(w.book.entries))
	if fresh := w.prepare(desk); len(fresh.Grants) > 0 {
		t.Errorf("new plan %+v", fresh)
	}
}

func TestNoWorkspaceHasNoResearch(t *testing.T) {
	desk := newWorld(t).desk()
	_, err := desk.Snapshot(t.Context(), "")
	wantRefusal(t, err, research.CodeNoWorkspace, "No workspace is active.")
	_, err = desk.Prepare(t.Context(), "", preparation())
	wantRefusal(t, err, research.CodeNoWorkspace, "No workspace is active.")
}
