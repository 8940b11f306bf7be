package research

import (
	"slices"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// state is a workspace's research, folded from its entries. The zero value has no plan.
type state struct {
	last      int64 // newest sequence; what is added comes after it
	plan      planBody
	prepared  time.Time
	choices   map[string]Choice // by action
	decisions int               // entries in which a person decided
	grants    []grantRecord     // oldest first
	campaigns []campaignRecord  // oldest first
	results   map[string]resultBody
}

type grantRecord struct {
	grantBody
	at        time.Time
	revokedAt *time.Time
}

type campaignRecord struct {
	campaignBody
	at      time.Time
	endedAt *time.Time
}

// fold reads entries, oldest first. Entries that do not fit together are an error: what cannot be understood grants
// nothing. A plan makes everything before it worthless.
func fold(entries []run.ResearchEntry) (state, error) {
	var s state
	for _, entry := range entries {
		if entry.Sequence <= s.last {
			return state{}, damaged("sequences do not ascend")
		}
		if entry.Kind != run.ResearchPlan && s.plan.PlanID == "" {
			return state{}, damaged("an entry without a plan")
		}
		if err := s.add(entry); err != nil {
			return state{}, err
		}
		s.last = entry.Sequence
	}
	return s, nil
}

func (s *state) add(entry run.ResearchEntry) error {
	switch entry.Kind {
	case run.ResearchPlan:
		return s.addPlan(entry)
	case run.ResearchGrant:
		return s.addGrant(entry)
	case run.ResearchCampaign:
		return s.addCampaign(entry)
	case run.ResearchResult:
		return s.addResult(entry)
	case run.ResearchRevocation:
		return s.addRevocation(entry)
	}
	return damaged("an unknown kind of entry")
}

func (s *state) addPlan(entry run.ResearchEntry) error {
	body, err := read[planBody](entry.Body)
	if err != nil {
		return err
	}
	ids := []string{}
	for _, action := range body.Actions {
		ids = append(ids, action.ActionID)
	}
	if body.PlanID == "" || len(body.Selection) == 0 || len(ids) == 0 || !distinct(ids) {
		return damaged("a plan without actions")
	}
	*s = state{
		last: s.last, plan: body, prepared: entry.At, choices: map[string]Choice{}, results: map[string]resultBody{},
	}
	return nil
}

func (s *state) addGrant(entry run.ResearchEntry) error {
	body, err := read[grantBody](entry.Body)
	switch {
	case err != nil:
		return err
	case body.PlanID != s.plan.PlanID:
		return damaged("a grant of another plan")
	case (body.GrantID == "") != (len(body.Covers) == 0):
		return damaged("a grant that covers nothing")
	}
	if _, exists := s.grant(body.GrantID); exists {
		return damaged("a grant that was made twice")
	}
	for _, c := range body.Choices {
		if _, planned := s.action(c.ActionID); !planned || !c.Choice.valid() || s.refusedBefore(c.ActionID, c.Choice) {
			return damaged("a choice that nobody could make")
		}
		s.choices[c.ActionID] = c.Choice
	}
	for i, covered := range body.Covers {
		again := slices.ContainsFunc(body.Covers[:i], func(c coveredBody) bool { return c.ActionID == covered.ActionID })
		if s.choice(covered.ActionID) != Authorize || again {
			return damaged("a grant of what nobody authorised")
		}
	}
	s.decisions++
	if body.GrantID != "" {
		s.grants = append(s.grants, grantRecord{grantBody: body, at: entry.At})
	}
	return nil
}

func (s *state) addCampaign(entry run.ResearchEntry) error {
	body, err := read[campaignBody](entry.Body)
	if err != nil {
		return err
	}
	grant, exists := s.grant(body.GrantID)
	if !exists || body.PlanID != s.plan.PlanID || body.CampaignID == "" || len(body.Calls) == 0 {
		return damaged("a campaign without a grant")
	}
	for i, call := range body.Calls {
		_, covered := grant.covers(call.ActionID)
		again := slices.ContainsFunc(body.Calls[:i], func(c callOfBody) bool { return c.ActionID == call.ActionID })
		if !covered || again || s.admitted(call.ActionID) || call.CallID == "" {
			return damaged("a campaign of what was not granted")
		}
	}
	s.campaigns = append(s.campaigns, campaignRecord{campaignBody: body, at: entry.At})
	return nil
}

func (s *state) addResult(entry run.ResearchEntry) error {
	body, err := read[resultBody](entry.Body)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.campaigns, func(c campaignRecord) bool { return c.CampaignID == body.CampaignID })
	_, known := s.results[body.ActionID]
	if i < 0 || known || !body.Status.settled() || body.PlanID != s.plan.PlanID || s.campaigns[i].call(body.ActionID) == "" {
		return damaged("a result of nothing")
	}
	s.results[body.ActionID] = body
	if !slices.ContainsFunc(s.campaigns[i].Calls, func(c callOfBody) bool { return !s.ran(c.ActionID) }) {
		s.campaigns[i].endedAt = &entry.At
	}
	return nil
}

func (s *state) addRevocation(entry run.ResearchEntry) error {
	body, err := read[revocationBody](entry.Body)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.grants, func(g grantRecord) bool { return g.GrantID == body.GrantID })
	if i < 0 || body.PlanID != s.plan.PlanID {
		return damaged("a revocation of nothing")
	}
	if s.grants[i].revokedAt == nil {
		s.grants[i].revokedAt = &entry.At
	}
	return nil
}
