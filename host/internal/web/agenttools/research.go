package agenttools

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/research"
)

// show answers with a snapshot, as the desk encodes it.
func show(snapshot research.Snapshot, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	encoded, err := research.Encode(snapshot)
	if err != nil {
		return reply{}, err
	}
	return done(encoded), nil
}

func (v *visit) getResearch() (reply, error) {
	return show(v.cfg.Research.Snapshot(v.r.Context(), v.cfg.Gateway.Active()))
}

func (v *visit) prepare() (reply, error) {
	var asked research.Preparation
	keys := []string{"selection_ids", "question", "exclusions", "idempotency_key"}
	if !v.body.into(keys, &asked.SelectionIDs, &asked.Question, &asked.Exclusions, &asked.Key) || asked.Key == "" {
		return reply{}, refused(research.CodeInvalid)
	}
	return show(v.cfg.Research.Prepare(v.r.Context(), v.cfg.Gateway.Active(), asked))
}

// grant takes a person's decision. There is no other way to it: no tool and no model reaches the desk's Grant.
func (v *visit) grant() (reply, error) {
	var decided research.Decision
	var choices []json.RawMessage
	keys := []string{"plan_id", "input_revision", "selected_action_ids", "decisions", "exclusions", "idempotency_key"}
	ok := v.body.into(keys, &decided.PlanID, &decided.InputRevision, &decided.SelectedActionIDs, &choices,
		&decided.Exclusions, &decided.Key)
	if !ok || decided.Key == "" {
		return reply{}, refused(research.CodeInvalid)
	}
	for _, raw := range choices {
		choice, ok := readChoice(raw)
		if !ok {
			return reply{}, refused(research.CodeInvalid)
		}
		decided.Decisions = append(decided.Decisions, choice)
	}
	return show(v.cfg.Research.Grant(v.r.Context(), v.cfg.Gateway.Active(), decided))
}

func readChoice(raw json.RawMessage) (choice research.ActionChoice, ok bool) {
	var members object
	if !isObject(raw) || !fill(raw, &members) {
		return choice, false
	}
	ok = members.into([]string{"action_id", "decision"}, &choice.ActionID, &choice.Choice)
	return choice, ok
}

func (v *visit) campaign() (reply, error) {
	var wanted research.Launch
	keys := []string{"grant_id", "input_revision", "action_ids", "idempotency_key"}
	if !v.body.into(keys, &wanted.GrantID, &wanted.InputRevision, &wanted.ActionIDs, &wanted.Key) || wanted.Key == "" {
		return reply{}, refused(research.CodeInvalid)
	}
	return show(v.cfg.Research.Campaign(v.r.Context(), v.cfg.Gateway.Active(), wanted))
}

func (v *visit) revoke() (reply, error) {
	var grantID string
	if !v.body.into([]string{"grant_id"}, &grantID) {
		return reply{}, refused(research.CodeInvalid)
	}
	return show(v.cfg.Research.Revoke(v.r.Context(), v.cfg.Gateway.Active(), grantID))
}
