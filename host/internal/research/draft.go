package research

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// NoProvider is the provider of an action when none is configured. No configured one may have this id.
const NoProvider = "none"

// maxKnown is how many earlier answers a plan remembers, so that an answer that did not change is seen as such.
const maxKnown = 32

// capabilities are what a plan's actions do, by wave.
func capabilities() []string {
	return []string{
		"labfy.capability.research.source_check.v1",
		"labfy.capability.research.counter_check.v1",
		"labfy.capability.research.archive_check.v1",
	}
}

// terms are the bounds of a contact, as a plan fixes them.
type terms struct {
	responseBytes int
	active        time.Duration
}

// draft makes a plan. Nothing is granted by it, and its actions have ids of their own: whatever was decided about an
// earlier plan is not about these.
func draft(p Preparation, revision int64, providers []string, bounds terms) (planBody, error) {
	subject := strings.Join(slices.DeleteFunc(slices.Clone(p.SelectionIDs), func(id string) bool {
		return actionBody{Subject: id}.excluded(p.Exclusions)
	}), ",")
	plan := planBody{
		InputRevision: revision, Selection: p.SelectionIDs, Question: p.Question, Exclusions: list(p.Exclusions),
		Actions: []actionBody{}, Known: []knownBody{},
	}
	for i, capability := range capabilities() {
		action := actionBody{
			CapabilityID: capability, ProviderID: NoProvider, Subject: subject, Contact: ContactNone, Disclosure: DiscloseNothing,
			MaxRequests: 1, MaxResponseBytes: bounds.responseBytes, MaxActiveMS: bounds.active.Milliseconds(), Wave: i + 1,
		}
		if len(providers) > 0 {
			action.ProviderID = providers[min(i, len(providers)-1)]
			action.Contact, action.Disclosure = ContactPassive, DiscloseQuestions
		}
		if subject != "" && !action.excluded(p.Exclusions) {
			plan.Actions = append(plan.Actions, action)
		}
	}
	if len(plan.Actions) == 0 {
		return planBody{}, refused("Nothing is left of the plan: everything is excluded.")
	}
	about, err := json.Marshal(plan)
	if err != nil {
		return planBody{}, err
	}
	plan.Fingerprint, plan.PlanID = run.Digest(about), run.NewUUID()
	for i := range plan.Actions {
		plan.Actions[i].ActionID = run.NewUUID()
	}
	return plan, nil
}

// asked names a question to a provider. Two plans that ask the same ask it under the same name.
func (s state) asked(action actionBody) string {
	raw, err := json.Marshal([]string{action.ProviderID, action.CapabilityID, action.Subject, s.plan.Question})
	if err != nil {
		return ""
	}
	return run.Digest(raw)
}

// learned is what is known of providers' answers at the end of a plan, newest last.
func (s state) learned() []knownBody {
	known := slices.Clone(s.plan.Known)
	for _, action := range s.plan.Actions {
		result, ran := s.results[action.ActionID]
		if !ran || result.Digest == "" {
			continue
		}
		asked := s.asked(action)
		known = slices.DeleteFunc(known, func(k knownBody) bool { return k.Asked == asked })
		known = append(known, knownBody{Asked: asked, Answer: result.Digest})
	}
	return known[max(0, len(known)-maxKnown):]
}

// compared is the status of an answer.
func (s state) compared(action actionBody, digest string) ResultStatus {
	if slices.Contains(s.plan.Known, knownBody{Asked: s.asked(action), Answer: digest}) {
		return ResultUnchanged
	}
	return ResultNew
}
