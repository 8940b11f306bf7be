package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// verdicts runs the vectors that either version ships on both and compares what they say. It returns how many it ran.
func (d *diff) verdicts(ctx context.Context, before, after *Subject) (ran int, err error) {
	vectors := bothVectors(before.Cases, after.Cases)
	why := ""
	switch {
	case before.Inspection.Kind != after.Inspection.Kind:
		why = "plugins of two kinds answer other questions: verdicts were not compared"
	case len(vectors) == 0:
		why = "neither version ships vectors: verdicts were not compared"
	}
	if why != "" {
		d.add(Change{Effect: Neutral, What: "verdict", Where: "vectors", Why: why})
		return 0, nil
	}
	old, err := newStand(before, wasm.Config{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, old.close(ctx)) }()
	now, err := newStand(after, wasm.Config{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, now.close(ctx)) }()
	for _, v := range vectors {
		was, err := old.try(ctx, v)
		if err != nil {
			return ran, err
		}
		is, err := now.try(ctx, v)
		if err != nil {
			return ran, err
		}
		ran++
		d.verdict(v, was, is)
	}
	return ran, nil
}

// bothVectors lists every vector once: of two that ask the same, the older one.
func bothVectors(before, after []*Case) []*Case {
	all := slices.Clone(before)
	for _, v := range after {
		known := slices.ContainsFunc(before, func(old *Case) bool {
			return old.Op == v.Op && len(differences(old.Input, v.Input, true)) == 0
		})
		if !known {
			all = append(all, v)
		}
	}
	return all
}

func (d *diff) verdict(v *Case, was, is Outcome) {
	before, after := verdictOf(v.Op, was), verdictOf(v.Op, is)
	if before == after && len(differences(orNull(was.Answer), orNull(is.Answer), true)) == 0 {
		return
	}
	c := Change{What: "verdict", Where: v.Name, Old: before.text, New: after.text}
	switch {
	case before.ranked && after.ranked && after.rank < before.rank:
		c.Effect, c.Why = Widens, "it is looser about the same question"
	case before.ranked && after.ranked && after.rank > before.rank:
		c.Effect, c.Why = Narrows, "it is stricter about the same question"
	case after.fails && v.Op != sdk.OpCall:
		c.Effect, c.Why = Narrows, "it fails, and a plugin that fails lets nothing pass"
	case before.ranked && after.ranked:
		c.Effect, c.Why = Neutral, "the verdict is the same, its words are others"
	case v.Op == sdk.OpCall:
		c.Effect, c.Why = Neutral, "the tool answers differently"
	default:
		c.Effect, c.Why = Widens, "whether it lets more pass cannot be told: look at it"
	}
	d.add(c)
}

// verdict is what an answer means to the gate. A larger rank is stricter.
type verdict struct {
	text   string
	rank   int
	ranked bool
	fails  bool
}

// verdictOf reads an answer. A plugin that fails denies, and a guard that fails falls back.
func verdictOf(op sdk.Op, o Outcome) verdict {
	v := verdict{text: shortened(string(o.Answer)), fails: o.ErrorCode != ""}
	if v.fails {
		v.text = "fails with " + o.ErrorCode
	}
	switch op {
	case sdk.OpEvaluate:
		opinion := sdk.Opinion{Action: sdk.Deny}
		v.ranked = v.fails || json.Unmarshal(o.Answer, &opinion) == nil
		v.rank = slices.Index(sdk.Actions(), opinion.Action)
	case sdk.OpReview:
		review := sdk.Review{Verdict: sdk.Fallback}
		v.ranked = v.fails || json.Unmarshal(o.Answer, &review) == nil
		v.rank = slices.Index([]sdk.GuardVerdict{sdk.Release, sdk.Repair, sdk.Fallback}, review.Verdict)
	}
	return v
}

func orNull(answer json.RawMessage) json.RawMessage {
	if answer == nil {
		return json.RawMessage("null")
	}
	return answer
}
