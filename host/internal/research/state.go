package research

import (
	"slices"
	"time"
)

func (s state) action(id string) (actionBody, bool) {
	i := slices.IndexFunc(s.plan.Actions, func(a actionBody) bool { return a.ActionID == id })
	if i < 0 {
		return actionBody{}, false
	}
	return s.plan.Actions[i], true
}

func (s state) grant(id string) (grantRecord, bool) {
	i := slices.IndexFunc(s.grants, func(g grantRecord) bool { return g.GrantID == id })
	if i < 0 || id == "" {
		return grantRecord{}, false
	}
	return s.grants[i], true
}

// choice is what a person said last about an action; nobody's word defers.
func (s state) choice(actionID string) Choice {
	if c, spoken := s.choices[actionID]; spoken {
		return c
	}
	return Defer
}

// refusedBefore reports whether a choice would take back a refusal: a refused action stays refused.
func (s state) refusedBefore(actionID string, next Choice) bool {
	return s.choices[actionID] == Refuse && next != Refuse
}

// admitted reports whether an action was admitted in a campaign: it has left, or will never.
func (s state) admitted(actionID string) bool {
	return s.callOf(actionID) != ""
}

// ran reports whether the result of an action is known.
func (s state) ran(actionID string) bool {
	_, known := s.results[actionID]
	return known
}

// live reports whether a grant counts at a time.
func (g grantRecord) live(now time.Time) bool {
	return g.GrantID != "" && g.revokedAt == nil && now.Before(g.ExpiresAt)
}

func (g grantRecord) covers(actionID string) (coveredBody, bool) {
	i := slices.IndexFunc(g.Covers, func(c coveredBody) bool { return c.ActionID == actionID })
	if i < 0 {
		return coveredBody{}, false
	}
	return g.Covers[i], true
}

// call is the id of the one call that a campaign may make of an action, empty when it has none.
func (c campaignBody) call(actionID string) string {
	for _, call := range c.Calls {
		if call.ActionID == actionID {
			return call.CallID
		}
	}
	return ""
}

// released reports whether work on a plan may go on: a campaign was admitted under a grant of it that still counts.
func (s state) released(planID string, now time.Time) bool {
	if planID == "" || s.plan.PlanID != planID {
		return false
	}
	return slices.ContainsFunc(s.campaigns, func(c campaignRecord) bool {
		grant, exists := s.grant(c.GrantID)
		return exists && grant.live(now)
	})
}

// snapshot shows the state. An action of a campaign that has no result may have been contacted, and nobody knows what
// came of it.
func (s state) snapshot() Snapshot {
	if s.plan.PlanID == "" {
		return Snapshot{State: Empty}
	}
	shown := Snapshot{
		State: Prepared, PlanID: s.plan.PlanID, Fingerprint: s.plan.Fingerprint, InputRevision: s.plan.InputRevision,
		CreatedAt: s.prepared, Question: s.plan.Question,
	}
	for _, planned := range s.plan.Actions {
		shown.Actions = append(shown.Actions, s.shownAction(planned))
	}
	for _, g := range slices.Backward(s.grants) {
		one := Grant{GrantID: g.GrantID, CreatedAt: g.at, ExpiresAt: g.ExpiresAt, RevokedAt: g.revokedAt}
		for _, covered := range g.Covers {
			one.ActionIDs = append(one.ActionIDs, covered.ActionID)
		}
		shown.Grants = append(shown.Grants, one)
	}
	for _, c := range slices.Backward(s.campaigns) {
		one := Campaign{CampaignID: c.CampaignID, GrantID: c.GrantID, AdmittedAt: c.at, EndedAt: c.endedAt}
		for _, call := range c.Calls {
			one.ActionIDs = append(one.ActionIDs, call.ActionID)
		}
		shown.Campaigns = append(shown.Campaigns, one)
	}
	return shown
}

func (s state) shownAction(planned actionBody) Action {
	shown := Action{
		ActionID: planned.ActionID, CapabilityID: planned.CapabilityID, ProviderID: planned.ProviderID, Subject: planned.Subject,
		Contact: planned.Contact, Disclosure: planned.Disclosure, MaxRequests: planned.MaxRequests,
		MaxResponseBytes: planned.MaxResponseBytes, MaxActive: time.Duration(planned.MaxActiveMS) * time.Millisecond,
		Decision: s.choice(planned.ActionID), Wave: planned.Wave,
	}
	if result, known := s.results[planned.ActionID]; known {
		shown.Contacted, shown.ResultStatus = result.Contacted, result.Status
		shown.ResultExcerpt, shown.ResultDigest = result.Excerpt, result.Digest
	} else if s.admitted(planned.ActionID) {
		shown.Contacted, shown.ResultStatus = planned.Contact != ContactNone, ResultUnknown
	}
	return shown
}

// callOf is the id of the call that was admitted for an action, empty when there is none.
func (s state) callOf(actionID string) string {
	for _, c := range s.campaigns {
		if id := c.call(actionID); id != "" {
			return id
		}
	}
	return ""
}
