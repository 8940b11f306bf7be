package research

import (
	"slices"
	"strings"
	"time"
)

// grantable asks the rules about a person's decision. revision is the graph's now. It returns the choices as they are
// after it.
func (s state) grantable(d Decision, revision int64) error {
	if err := s.current(d.PlanID, d.InputRevision, revision); err != nil {
		return err
	}
	after := map[string]Choice{}
	for _, c := range d.Decisions {
		if _, planned := s.action(c.ActionID); !planned {
			return refused("An action does not belong to the plan.")
		}
		if s.refusedBefore(c.ActionID, c.Choice) {
			return refused("A refused action stays refused.")
		}
		after[c.ActionID] = c.Choice
	}
	for _, id := range d.SelectedActionIDs {
		if err := s.selectable(id, after, d); err != nil {
			return err
		}
	}
	return nil
}

// selectable asks the rules whether a grant may cover an action.
func (s state) selectable(id string, after map[string]Choice, d Decision) error {
	action, planned := s.action(id)
	choice, spoken := after[id]
	if !spoken {
		choice = s.choice(id)
	}
	switch {
	case !planned:
		return refused("An action does not belong to the plan.")
	case choice == Refuse && !spoken:
		return refused("A refused action stays refused.")
	case choice != Authorize:
		return refused("An action of the grant is not authorised.")
	case action.excluded(d.Exclusions):
		return refused("An action of the grant is excluded.")
	case s.admitted(id):
		return refused("An action of the grant was already carried out.")
	case s.ahead(action, d.SelectedActionIDs):
		return refused("An earlier wave of the plan has neither run nor is it granted with this one.")
	}
	return nil
}

// launchable asks the rules about a campaign.
func (s state) launchable(l Launch, revision int64, now time.Time) error {
	grant, exists := s.grant(l.GrantID)
	switch {
	case !exists:
		return refused("There is no such grant of the present plan.")
	case grant.revokedAt != nil:
		return refused("The grant was revoked.")
	case !grant.live(now):
		return refused("The grant has expired.")
	}
	if err := s.current(grant.PlanID, l.InputRevision, revision); err != nil {
		return err
	}
	for _, id := range l.ActionIDs {
		if err := s.startable(grant, id); err != nil {
			return err
		}
	}
	return nil
}

// startable asks the rules whether an action may be carried out under a grant that is live.
func (s state) startable(grant grantRecord, id string) error {
	action, planned := s.action(id)
	_, covered := grant.covers(id)
	switch {
	case !planned || !covered:
		return refused("The grant does not cover an action of the campaign.")
	case s.choice(id) == Refuse:
		return refused("A refused action stays refused.")
	case s.choice(id) != Authorize:
		return refused("An action of the campaign is not authorised any more.")
	case s.admitted(id):
		return refused("An action of the campaign was already carried out.")
	case s.ahead(action, nil):
		return refused("An earlier wave of the plan has not run.")
	}
	return nil
}

// ahead reports whether an action of an earlier wave has not run and is not named either.
func (s state) ahead(of actionBody, named []string) bool {
	return slices.ContainsFunc(s.plan.Actions, func(a actionBody) bool {
		return a.Wave < of.Wave && !s.ran(a.ActionID) && !slices.Contains(named, a.ActionID)
	})
}

// current asks whether a request is about the plan as it stands, and the graph is the one that it was made from.
func (s state) current(planID string, asked, revision int64) error {
	switch {
	case s.plan.PlanID == "" || s.plan.PlanID != planID:
		return refused("This is not the present plan.")
	case asked != s.plan.InputRevision:
		return refused("The request is about another revision than the plan.")
	case revision != s.plan.InputRevision:
		return refused("The workspace has changed since the plan was made.")
	}
	return nil
}

// excluded reports whether one of the texts names the action itself, its provider, its capability, its subject or an
// object of it.
func (a actionBody) excluded(exclusions []string) bool {
	names := append(strings.Split(a.Subject, ","), a.ActionID, a.ProviderID, a.CapabilityID, a.Subject)
	return slices.ContainsFunc(exclusions, func(text string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(strings.TrimSpace(text), name) })
	})
}
