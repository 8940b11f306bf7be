package run

import "encoding/json"

// Asked is what a person is asked about: one call, as it would run.
type Asked struct {
	Call     Call
	Tool     Tool
	Args     json.RawMessage // final: what is shown is what runs
	Decision Decision
	Reason   string // public; empty: the decision's
}
