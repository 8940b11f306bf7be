package research_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestAGrantLivesForAnHourAndContactsNobody(t *testing.T) {
	w := newWorld(t)
	_, got := w.granted()
	want := []research.Grant{{
		GrantID: got.Grants[0].GrantID, ActionIDs: actions(got), CreatedAt: w.clock.Now(), ExpiresAt: w.clock.Now().Add(time.Hour),
	}}
	if diff := cmp.Diff(want, got.Grants); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	if len(got.Campaigns) > 0 || got.Actions[0].Decision != research.Authorize {
		t.Errorf("snapshot %+v", got)
	}
	w.wantContacts(0)
}

func TestGrantsAreShownNewestFirst(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	w.clock.pass(time.Minute)
	got := must(t)(desk.Grant(t.Context(), space, authorises(plan, actions(plan)[:1]...)))
	if len(got.Grants) != 2 || got.Grants[1].GrantID != plan.Grants[0].GrantID {
		t.Errorf("grants %+v", got.Grants)
	}
}

func TestADecisionThatTheRulesRefuseGrantsNothing(t *testing.T) {
	const (
		notOurs  = "An action does not belong to the plan."
		notAuth  = "An action of the grant is not authorised."
		stale    = "The request is about another revision than the plan."
		changed  = "The workspace has changed since the plan was made."
		notPlan  = "This is not the present plan."
		excluded = "An action of the grant is excluded."
	)
	for name, c := range map[string]struct {
		want   string
		change func(*world, *research.Decision)
	}{
		"another plan":         {notPlan, func(_ *world, d *research.Decision) { d.PlanID = "another" }},
		"an older revision":    {stale, func(_ *world, d *research.Decision) { d.InputRevision-- }},
		"a graph that changed": {changed, func(w *world, _ *research.Decision) { w.revision++ }},
		"an object that went":  {changed, func(w *world, _ *research.Decision) { w.objects = nil }},
		"a foreign action": {notOurs, func(_ *world, d *research.Decision) {
			d.SelectedActionIDs = append(d.SelectedActionIDs, "another")
		}},
		"a decision of a foreign action": {notOurs, func(_ *world, d *research.Decision) {
			d.Decisions = append(d.Decisions, research.ActionChoice{ActionID: "another", Choice: research.Defer})
		}},
		"no word about an action": {notAuth, func(_ *world, d *research.Decision) { d.Decisions = d.Decisions[1:] }},
		"a deferred action":       {notAuth, func(_ *world, d *research.Decision) { d.Decisions[0].Choice = research.Defer }},
		"a refused action":        {notAuth, func(_ *world, d *research.Decision) { d.Decisions[0].Choice = research.Refuse }},
		"an excluded provider":    {excluded, func(_ *world, d *research.Decision) { d.Exclusions = []string{"Archive"} }},
		"an excluded action": {excluded, func(_ *world, d *research.Decision) {
			d.Exclusions = []string{d.SelectedActionIDs[0]}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			desk, plan := w.prepared()
			d := authorises(plan, actions(plan)...)
			c.change(w, &d)
			_, err := desk.Grant(t.Context(), space, d)
			wantRefusal(t, err, research.CodeRefused, c.want)
			if after := must(t)(desk.Snapshot(t.Context(), space)); !cmp.Equal(plan, after) {
				t.Errorf("changed (-before +after):\n%s", cmp.Diff(plan, after))
			}
		})
	}
}

func TestADecisionThatIsWrongIsInvalid(t *testing.T) {
	nine := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}
	for name, change := range map[string]func(*research.Decision){
		"no plan":             func(d *research.Decision) { d.PlanID = "" },
		"an action twice":     func(d *research.Decision) { d.SelectedActionIDs = []string{"a", "a"} },
		"nine actions":        func(d *research.Decision) { d.SelectedActionIDs = nine },
		"two words about one": func(d *research.Decision) { d.Decisions = append(d.Decisions, d.Decisions[0]) },
		"an unknown choice":   func(d *research.Decision) { d.Decisions[0].Choice = "authorize" },
		"no word at all":      func(d *research.Decision) { d.Decisions, d.SelectedActionIDs = nil, nil },
		"nine exclusions":     func(d *research.Decision) { d.Exclusions = nine },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			desk, plan := w.prepared()
			d := authorises(plan, actions(plan)...)
			change(&d)
			if _, err := desk.Grant(t.Context(), space, d); !run.IsCode(err, research.CodeInvalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestARefusedActionCanNeverBeGranted(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.prepared()
	first := plan.Actions[0].ActionID
	plan = must(t)(desk.Grant(t.Context(), space, decides(plan, research.Refuse, first)))
	if len(plan.Grants) > 0 || plan.Actions[0].Decision != research.Refuse {
		t.Errorf("after a refusal: %+v", plan)
	}
	for name, d := range map[string]research.Decision{
		"authorised later":           authorises(plan, first),
		"with the others":            authorises(plan, actions(plan)...),
		"deferred first":             decides(plan, research.Defer, first),
		"selected without a word":    {PlanID: plan.PlanID, InputRevision: 7, SelectedActionIDs: []string{first}},
		"authorised, not selected":   {PlanID: plan.PlanID, InputRevision: 7, Decisions: []research.ActionChoice{{ActionID: first, Choice: research.Authorize}}},
		"beside another that may be": authorises(plan, plan.Actions[1].ActionID, first),
	} {
		t.Log(name)
		_, err := desk.Grant(t.Context(), space, d)
		wantRefusal(t, err, research.CodeRefused, "A refused action stays refused.")
	}
	after := must(t)(w.desk().Snapshot(t.Context(), space))
	if diff := cmp.Diff(plan, after); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

func TestARefusalEndsWhatAnEarlierGrantAllowed(t *testing.T) {
	for choice, want := range map[research.Choice]string{
		research.Refuse: "A refused action stays refused.",
		research.Defer:  "An action of the campaign is not authorised any more.",
	} {
		w := newWorld(t)
		desk, plan := w.granted()
		first := plan.Actions[0].ActionID
		must(t)(desk.Grant(t.Context(), space, decides(plan, choice, first)))
		_, err := desk.Campaign(t.Context(), space, launch(plan, first))
		wantRefusal(t, err, research.CodeRefused, want)
		w.wantContacts(0)
	}
}

func TestAnActionThatWasCarriedOutIsNotGrantedAgain(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	first := plan.Actions[0].ActionID
	must(t)(desk.Campaign(t.Context(), space, launch(plan, first)))
	_, err := desk.Grant(t.Context(), space, authorises(plan, first))
	wantRefusal(t, err, research.CodeRefused, "An action of the grant was already carried out.")
}

func TestALaterWaveIsGrantedWithTheEarlierOnesOrWhenTheyHaveRun(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.prepared()
	first, second := plan.Actions[0].ActionID, plan.Actions[1].ActionID
	_, err := desk.Grant(t.Context(), space, authorises(plan, second))
	wantRefusal(t, err, research.CodeRefused, "An earlier wave of the plan has neither run nor is it granted with this one.")
	plan = must(t)(desk.Grant(t.Context(), space, authorises(plan, first)))
	must(t)(desk.Campaign(t.Context(), space, launch(plan, first)))
	if got := must(t)(desk.Grant(t.Context(), space, authorises(plan, second))); len(got.Grants) != 2 {
		t.Errorf("%+v", got.Grants)
	}
}

func TestWhatTheRulesOfTheServiceDenyIsNotGranted(t *testing.T) {
	w := newWorld(t)
	w.rules.ToolRules = map[string]any{"research_contact": "deny"}
	desk, plan := w.prepared()
	_, err := desk.Grant(t.Context(), space, authorises(plan, actions(plan)...))
	wantRefusal(t, err, research.CodeRefused, "The rules of this service deny an action of the grant.")
}

func TestARepeatedDecisionMakesOneGrant(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.prepared()
	d := authorises(plan, actions(plan)...)
	d.Key = "k"
	first := must(t)(desk.Grant(t.Context(), space, d))
	second := must(t)(desk.Grant(t.Context(), space, d))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("snapshots (-first +second):\n%s", diff)
	}
	d.SelectedActionIDs = d.SelectedActionIDs[:1]
	_, err := desk.Grant(t.Context(), space, d)
	wantRefusal(t, err, research.CodeConflict, "The idempotency key belongs to another request.")
}

func TestARevokedGrantIsWorthNothing(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	w.clock.pass(time.Minute)
	revoked := must(t)(desk.Revoke(t.Context(), space, plan.Grants[0].GrantID))
	if at := revoked.Grants[0].RevokedAt; at == nil || !at.Equal(w.clock.Now()) {
		t.Errorf("revoked at %v", at)
	}
	w.clock.pass(time.Minute)
	if diff := cmp.Diff(revoked, must(t)(desk.Revoke(t.Context(), space, plan.Grants[0].GrantID))); diff != "" {
		t.Errorf("revoked again (-first +second):\n%s", diff)
	}
	_, err := desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID))
	wantRefusal(t, err, research.CodeRefused, "The grant was revoked.")
	w.wantContacts(0)
}

func TestOnlyAGrantOfThePlanCanBeRevoked(t *testing.T) {
	w := newWorld(t)
	desk, _ := w.granted()
	_, err := desk.Revoke(t.Context(), space, "another")
	wantRefusal(t, err, research.CodeRefused, "There is no such grant of the present plan.")
	_, err = desk.Revoke(t.Context(), space, "")
	wantRefusal(t, err, research.CodeInvalid, "A revocation names a grant.")
}

func TestAnExpiredGrantIsWorthNothing(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	w.clock.pass(time.Hour)
	_, err := desk.Campaign(t.Context(), space, launch(plan, plan.Actions[1].ActionID))
	wantRefusal(t, err, research.CodeRefused, "The grant has expired.")
	if released, err := desk.Released(t.Context(), space, plan.PlanID); released || err != nil {
		t.Errorf("released %v, %v", released, err)
	}
	w.wantContacts(1)
}

func TestAPlanHasABoundedNumberOfGrants(t *testing.T) {
	w := newWorld(t)
	w.limits.Grants = 2
	desk, plan := w.prepared()
	d := authorises(plan, actions(plan)...)
	must(t)(desk.Grant(t.Context(), space, d))
	must(t)(desk.Grant(t.Context(), space, d))
	_, err := desk.Grant(t.Context(), space, d)
	wantRefusal(t, err, research.CodeLimit, "The plan has as many grants as it may have.")
}

func TestOfARefusalAndAGrantThatRaceTheOrderDecides(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.prepared()
	first := plan.Actions[0].ActionID
	w.book.between = func() { must(t)(desk.Grant(t.Context(), space, decides(plan, research.Refuse, first))) }
	_, err := desk.Grant(t.Context(), space, authorises(plan, first))
	wantRefusal(t, err, research.CodeRefused, "A refused action stays refused.")
}

func TestRacingDecisionsAreAllKeptAndOneKeyMakesOneGrant(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.prepared()
	var all sync.WaitGroup
	for _, key := range []string{"", "k", "", "k", "k", ""} {
		all.Go(func() {
			d := authorises(plan, actions(plan)...)
			d.Key = key
			if _, err := desk.Grant(t.Context(), space, d); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := must(t)(desk.Snapshot(t.Context(), space)); len(got.Grants) != 4 {
		t.Errorf("%d grants, want 4", len(got.Grants))
	}
}

func TestAPlanThatIsReplacedWhileAPersonDecidesIsNotGranted(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.prepared()
	w.book.between = func() { w.prepare(desk) }
	_, err := desk.Grant(t.Context(), space, authorises(plan, actions(plan)...))
	wantRefusal(t, err, research.CodeRefused, "This is not the present plan.")
}
