package sdk

import "encoding/json"

// ReviewRequest asks a guard whether a draft answer may leave.
type ReviewRequest struct {
	Draft    json.RawMessage `json:"draft"`
	Evidence json.RawMessage `json:"evidence"`
	Question string          `json:"question"`
}

// GuardVerdict is a guard's word. The zero value is no verdict: whoever meets it falls back.
type GuardVerdict string

// The three guard verdicts.
const (
	Release  GuardVerdict = "release"
	Repair   GuardVerdict = "repair"
	Fallback GuardVerdict = "fallback"
)

// Review is a guard's answer.
type Review struct {
	Verdict GuardVerdict `json:"verdict"`
	Reasons []string     `json:"reasons"`
}
