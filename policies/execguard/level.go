package execguard

import "github.com/fastreact/fastreact/sdk"

// level says how bad a command is.
type level int

const (
	safe      level = iota // reads only
	caution                // changes files here, or is not known
	danger                 // a person should look at it first
	forbidden              // never
)

// finding is a level with its reason, a whole sentence, and the pattern that led to it, if one did.
type finding struct {
	level   level
	reason  string
	pattern string
}

// or returns the worse of two findings, the earlier one when they are equal.
func (f finding) or(other finding) finding {
	if other.level > f.level {
		return other
	}
	return f
}

// atLeast raises a finding to the level and reason of other without lowering it.
func (f finding) atLeast(l level, reason string) finding {
	return f.or(finding{level: l, reason: reason})
}

func (f finding) opinion() sdk.Opinion {
	return sdk.Opinion{Action: f.level.action(), Reason: f.reason, PatternMatched: f.pattern}
}

// action is the policy action of a level. An unknown level denies.
func (l level) action() sdk.Action {
	switch l {
	case safe:
		return sdk.Allow
	case caution:
		return sdk.Caution
	case danger:
		return sdk.RequireApproval
	}
	return sdk.Deny
}

func isSafe() finding { return finding{level: safe, reason: "The command only reads."} }
