package sdk

// Action is what policy says about one tool call. The zero value is not an action: whoever meets it denies.
type Action string

// The four actions, from loosest to strictest.
const (
	Allow           Action = "allow"            // run it
	Caution         Action = "caution"          // run it and log it with caution
	RequireApproval Action = "require_approval" // ask a person first
	Deny            Action = "deny"             // never run it
)

// Actions lists the four actions from loosest to strictest.
func Actions() []Action { return []Action{Allow, Caution, RequireApproval, Deny} }

// Valid reports whether a is one of the four actions.
func (a Action) Valid() bool {
	switch a {
	case Allow, Caution, RequireApproval, Deny:
		return true
	}
	return false
}

// Stricter returns the stricter of a and b. An unknown action counts as Deny.
func Stricter(a, b Action) Action {
	if a.rank() >= b.rank() {
		return a.orDeny()
	}
	return b.orDeny()
}

func (a Action) rank() int {
	switch a {
	case Allow:
		return 0
	case Caution:
		return 1
	case RequireApproval:
		return 2
	}
	return 3
}

func (a Action) orDeny() Action {
	if a.Valid() {
		return a
	}
	return Deny
}
