package run

// Answer is what a person says about an approval.
type Answer struct {
	ID      string // of the approval
	Approve bool
	Choice  Choice // only about an UnknownOutcome
	By      string // who answers; empty: nobody knows
	Reason  string

	Idempotency Idempotency // of the request; zero: none
}
