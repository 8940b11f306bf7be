package research_test

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestAGrantedActionIsContactedOnceAndItsResultIsShown(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	w.wantContacts(0)
	after := must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	w.wantContacts(1)
	want := plan.Actions[0]
	want.Contacted, want.ResultStatus = true, research.ResultNew
	want.ResultExcerpt = "The archive knows of two signatures."
	want.ResultDigest = run.Digest([]byte("The archive knows of two signatures."))
	if diff := cmp.Diff(want, after.Actions[0]); diff != "" {
		t.Errorf("action (-want +got):\n%s", diff)
	}
	now := w.clock.Now()
	campaigns := []research.Campaign{{
		CampaignID: after.Campaigns[0].CampaignID, GrantID: plan.Grants[0].GrantID, ActionIDs: actions(plan)[:1], AdmittedAt: now, EndedAt: &now,
	}}
	if diff := cmp.Diff(campaigns, after.Campaigns); diff != "" {
		t.Errorf("campaigns (-want +got):\n%s", diff)
	}
}

func TestACampaignThatTheRulesRefuseContactsNobody(t *testing.T) {
	for name, c := range map[string]struct {
		want   string
		change func(*world, *research.Launch, research.Snapshot)
	}{
		"another grant": {"There is no such grant of the present plan.", func(_ *world, l *research.Launch, _ research.Snapshot) {
			l.GrantID = "another"
		}},
		"an older revision": {"The request is about another revision than the plan.", func(_ *world, l *research.Launch, _ research.Snapshot) {
			l.InputRevision--
		}},
		"a graph that changed": {"The workspace has changed since the plan was made.", func(w *world, _ *research.Launch, _ research.Snapshot) {
			w.revision++
		}},
		"a foreign action": {"The grant does not cover an action of the campaign.", func(_ *world, l *research.Launch, _ research.Snapshot) {
			l.ActionIDs = []string{"another"}
		}},
		"an action that is not covered": {"The grant does not cover an action of the campaign.", func(_ *world, l *research.Launch, s research.Snapshot) {
			l.ActionIDs = []string{s.Actions[2].ActionID}
		}},
		"the second wave first": {"An earlier wave of the plan has not run.", func(_ *world, l *research.Launch, s research.Snapshot) {
			l.ActionIDs = []string{s.Actions[1].ActionID}
		}},
		"the second wave with the first": {"An earlier wave of the plan has not run.", func(_ *world, l *research.Launch, s research.Snapshot) {
			l.ActionIDs = []string{s.Actions[0].ActionID, s.Actions[1].ActionID}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			desk, plan := w.prepared()
			plan = must(t)(desk.Grant(t.Context(), space, authorises(plan, actions(plan)[:2]...)))
			l := launch(plan, plan.Actions[0].ActionID)
			c.change(w, &l, plan)
			_, err := desk.Campaign(t.Context(), space, l)
			wantRefusal(t, err, research.CodeRefused, c.want)
			w.wantContacts(0)
			if after := must(t)(desk.Snapshot(t.Context(), space)); len(after.Campaigns) > 0 {
				t.Errorf("campaigns %+v", after.Campaigns)
			}
		})
	}
}

func TestALaunchThatIsWrongIsInvalid(t *testing.T) {
	for name, l := range map[string]research.Launch{
		"no grant":        {ActionIDs: []string{"a"}},
		"no action":       {GrantID: "g"},
		"an action twice": {GrantID: "g", ActionIDs: []string{"a", "a"}},
	} {
		if _, err := newWorld(t).desk().Campaign(t.Context(), space, l); !run.IsCode(err, research.CodeInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNothingCanBeGrantedOrLaunchedWithoutAPlan(t *testing.T) {
	desk := newWorld(t).desk()
	_, err := desk.Grant(t.Context(), space, research.Decision{PlanID: "p", SelectedActionIDs: []string{"a"}})
	wantRefusal(t, err, research.CodeRefused, "There is no plan.")
	_, err = desk.Campaign(t.Context(), space, research.Launch{GrantID: "g", ActionIDs: []string{"a"}})
	wantRefusal(t, err, research.CodeRefused, "There is no plan.")
}

func TestWavesRunOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	for _, a := range plan.Actions {
		plan = must(t)(desk.Campaign(t.Context(), space, launch(plan, a.ActionID)))
	}
	got := []research.ResultStatus{plan.Actions[0].ResultStatus, plan.Actions[1].ResultStatus, plan.Actions[2].ResultStatus}
	if diff := cmp.Diff([]research.ResultStatus{research.ResultNew, research.ResultNew, research.ResultNew}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	w.wantContacts(3)
}

func TestAnActionIsCarriedOutOnce(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	l := launch(plan, plan.Actions[0].ActionID)
	must(t)(desk.Campaign(t.Context(), space, l))
	_, err := desk.Campaign(t.Context(), space, l)
	wantRefusal(t, err, research.CodeRefused, "An action of the campaign was already carried out.")
	w.wantContacts(1)
}

func TestWithoutAProviderAnActionIsUnavailableAndTheNextWaveMayRun(t *testing.T) {
	w := newWorld(t)
	w.providers = nil
	desk, plan := w.granted()
	plan = must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	if a := plan.Actions[0]; a.ResultStatus != research.ResultUnavailable || a.Contacted {
		t.Errorf("action %+v", a)
	}
	must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[1].ActionID)))
	w.wantContacts(0)
}

func TestAnAnswerThatDidNotChangeIsSeenAsSuch(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	first := func(s research.Snapshot) research.ResultStatus {
		s = must(t)(desk.Grant(t.Context(), space, authorises(s, actions(s)...)))
		return must(t)(desk.Campaign(t.Context(), space, launch(s, s.Actions[0].ActionID))).Actions[0].ResultStatus
	}
	got := []research.ResultStatus{first(plan), first(w.prepare(desk)), first(w.prepare(desk))}
	w.provider.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"signatures":3}`))
	}
	got = append(got, first(w.prepare(desk)))
	want := []research.ResultStatus{research.ResultNew, research.ResultUnchanged, research.ResultUnchanged, research.ResultNew}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestOfRacingCampaignsOneContacts(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	var all sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 8 {
		all.Go(func() {
			_, err := desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				admitted++
			} else if !run.IsCode(err, research.CodeRefused) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if admitted != 1 {
		t.Errorf("%d campaigns were admitted", admitted)
	}
	w.wantContacts(1)
}

func TestARepeatedCampaignWaitsForTheFirst(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	arrived, release := make(chan struct{}), make(chan struct{})
	answer := w.provider.answer
	w.provider.answer = func(rw http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		answer(rw, r)
	}
	l := launch(plan, plan.Actions[0].ActionID)
	l.Key = "k"
	results := make(chan research.Snapshot, 2)
	for range 2 {
		go func() {
			s, err := desk.Campaign(t.Context(), space, l)
			if err != nil {
				t.Error(err)
			}
			results <- s
		}()
	}
	<-arrived
	if during := must(t)(desk.Snapshot(t.Context(), space)).Actions[0]; !during.Contacted || during.ResultStatus != "" {
		t.Errorf("meanwhile %+v", during)
	}
	close(release)
	if diff := cmp.Diff(<-results, <-results); diff != "" {
		t.Errorf("answers differ:\n%s", diff)
	}
	w.wantContacts(1)
}

func TestARepeatedCampaignUnderAnotherGrantIsAConflict(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	l := launch(plan, plan.Actions[0].ActionID)
	l.Key = "k"
	must(t)(desk.Campaign(t.Context(), space, l))
	l.ActionIDs = []string{plan.Actions[1].ActionID}
	_, err := desk.Campaign(t.Context(), space, l)
	wantRefusal(t, err, research.CodeConflict, "The idempotency key belongs to another request.")
	w.wantContacts(1)
}

func TestAPlanHasABoundedNumberOfCampaigns(t *testing.T) {
	w := newWorld(t)
	w.limits.Campaigns = 1
	desk, plan := w.granted()
	must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	_, err := desk.Campaign(t.Context(), space, launch(plan, plan.Actions[1].ActionID))
	wantRefusal(t, err, research.CodeLimit, "The plan has as many campaigns as it may have.")
}

var errKilled = errors.New("killed")

func TestWhatAProcessLeftUnfinishedIsUnknownAndNeverTriedAgain(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	w.book.refuse = func(e run.ResearchEntry) error {
		if e.Kind == run.ResearchResult {
			return errKilled
		}
		return nil
	}
	first := launch(plan, plan.Actions[0].ActionID)
	first.Key = "k"
	if _, err := desk.Campaign(t.Context(), space, first); !errors.Is(err, errKilled) {
		t.Fatalf("got %v", err)
	}
	w.wantContacts(1)
	w.book.refuse = nil
	again := w.desk()
	after := must(t)(again.Snapshot(t.Context(), space))
	if a := after.Actions[0]; !a.Contacted || a.ResultStatus != research.ResultUnknown || after.Campaigns[0].EndedAt != nil {
		t.Errorf("after the restart: %+v", after)
	}
	if diff := cmp.Diff(after, must(t)(again.Campaign(t.Context(), space, first))); diff != "" {
		t.Errorf("repeated (-want +got):\n%s", diff)
	}
	_, err := again.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID))
	wantRefusal(t, err, research.CodeRefused, "An action of the campaign was already carried out.")
	_, err = again.Campaign(t.Context(), space, launch(plan, plan.Actions[1].ActionID))
	wantRefusal(t, err, research.CodeRefused, "An earlier wave of the plan has not run.")
	w.wantContacts(1)
}

func TestACampaignThatCannotBeStoredContactsNobody(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	w.book.refuse = func(run.ResearchEntry) error { return errKilled }
	if _, err := desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)); !errors.Is(err, errKilled) {
		t.Errorf("got %v", err)
	}
	w.wantContacts(0)
}

func TestAResultOfAPlanThatWasReplacedIsDropped(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	answer := w.provider.answer
	w.provider.answer = func(rw http.ResponseWriter, r *http.Request) {
		w.prepare(desk)
		answer(rw, r)
	}
	after := must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	if after.PlanID == plan.PlanID || after.Actions[0].Contacted || len(after.Campaigns) > 0 {
		t.Errorf("snapshot %+v", after)
	}
}

func TestATurnIsReleasedByACampaignUnderALiveGrantOfItsPlan(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.prepared()
	released := func(planID string) bool {
		t.Helper()
		ok, err := desk.Released(t.Context(), space, planID)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	got := []bool{released(plan.PlanID)}
	plan = must(t)(desk.Grant(t.Context(), space, authorises(plan, actions(plan)...)))
	got = append(got, released(plan.PlanID))
	must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	got = append(got, released(plan.PlanID), released("another"), released(""))
	must(t)(desk.Grant(t.Context(), space, authorises(plan, plan.Actions[1].ActionID))) // one without a campaign
	must(t)(desk.Revoke(t.Context(), space, plan.Grants[0].GrantID))
	got = append(got, released(plan.PlanID))
	if diff := cmp.Diff([]bool{false, false, true, false, false, false}, got); diff != "" {
		t.Errorf("released (-want +got):\n%s", diff)
	}
}

func TestOnlyABoundedNumberOfAnswersIsRemembered(t *testing.T) {
	w := newWorld(t)
	desk := w.desk()
	status := func(question int) research.ResultStatus {
		asked := preparation()
		asked.Question = strconv.Itoa(question)
		s := must(t)(desk.Prepare(t.Context(), space, asked))
		s = must(t)(desk.Grant(t.Context(), space, authorises(s, s.Actions[0].ActionID)))
		return must(t)(desk.Campaign(t.Context(), space, launch(s, s.Actions[0].ActionID))).Actions[0].ResultStatus
	}
	for question := range 33 {
		status(question)
	}
	if got := status(1); got != research.ResultUnchanged {
		t.Errorf("the oldest of 32 is %s", got)
	}
	if got := status(0); got != research.ResultNew {
		t.Errorf("the one before is %s", got)
	}
}
