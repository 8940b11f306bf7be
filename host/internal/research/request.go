package research

import (
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Preparation asks for a plan.
type Preparation struct {
	SelectionIDs []string // 1 to 8 objects of the workspace
	Question     string   // 1 to 512 characters
	Exclusions   []string // at most 8; an action whose subject, provider, capability or id is one of them is left out
	Key          string   // idempotency key; empty: a request of its own
}

// Decision is a person's word about a plan's actions.
type Decision struct {
	PlanID            string
	InputRevision     int64
	SelectedActionIDs []string       // what the grant covers; empty: no grant is made, only the choices are kept
	Decisions         []ActionChoice // an action at most once
	Exclusions        []string       // at most 8; what they name cannot be granted
	Key               string         // idempotency key; empty: a request of its own
}

// ActionChoice is a choice about one action.
type ActionChoice struct {
	ActionID string
	Choice   Choice
}

// Launch asks for a campaign under a grant.
type Launch struct {
	GrantID       string
	InputRevision int64
	ActionIDs     []string // at least one, each once
	Key           string   // idempotency key; empty: a request of its own
}

// Bounds of what a request may hold. They are the contract's and do not change.
const (
	maxSelection = 8
	maxActions   = 8
	maxTexts     = 8
	maxKey       = 128 // bytes
)

func (p Preparation) check() error {
	switch {
	case len(p.SelectionIDs) < 1 || len(p.SelectionIDs) > maxSelection || !distinct(p.SelectionIDs):
		return invalid("A plan is for 1 to 8 different objects.")
	case slices.ContainsFunc(p.SelectionIDs, func(id string) bool { return !run.IsObjectID(id) }):
		return invalid("An object's id is a kind and a UUID, or a UUID.")
	case !run.IsText(p.Question):
		return invalid("The question has 1 to 512 characters.")
	}
	return checkTexts(p.Exclusions, p.Key)
}

func (d Decision) check() error {
	switch {
	case d.PlanID == "" || len(d.SelectedActionIDs) > maxActions || !distinct(d.SelectedActionIDs):
		return invalid("A grant names a plan and at most 8 different actions.")
	case len(d.Decisions) > maxActions || !distinct(actionsOf(d.Decisions)):
		return invalid("At most 8 actions are decided, each once.")
	case slices.ContainsFunc(d.Decisions, func(c ActionChoice) bool { return !c.Choice.valid() }):
		return invalid("A decision is AUTHORIZE, DEFER or REFUSE.")
	case len(d.SelectedActionIDs) == 0 && len(d.Decisions) == 0:
		return invalid("A grant selects or decides at least one action.")
	}
	return checkTexts(d.Exclusions, d.Key)
}

func (l Launch) check() error {
	if l.GrantID == "" || len(l.ActionIDs) < 1 || len(l.ActionIDs) > maxActions || !distinct(l.ActionIDs) {
		return invalid("A campaign names a grant and 1 to 8 different actions.")
	}
	return checkTexts(nil, l.Key)
}

func checkTexts(exclusions []string, key string) error {
	switch {
	case len(exclusions) > maxTexts || slices.ContainsFunc(exclusions, func(text string) bool { return !run.IsText(text) }):
		return invalid("There are at most 8 exclusions of 1 to 512 characters.")
	case key != "" && !run.IsKey(key):
		return invalid("An idempotency key has 1 to 128 bytes of printable text.")
	}
	return nil
}

func distinct(ids []string) bool {
	seen := map[string]bool{}
	for _, id := range ids {
		if id == "" || seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

func actionsOf(choices []ActionChoice) []string {
	ids := []string{}
	for _, c := range choices {
		ids = append(ids, c.ActionID)
	}
	return ids
}
