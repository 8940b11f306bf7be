package sdk

import "github.com/fastreact/fastreact/sdk/wire"

// ReadOpinion reads an opinion by hand: guests are told one, and every gated call waits until the host has read one.
// Whether its action is one of the four is left to the caller, and errors stay in r.
func ReadOpinion(r *wire.Reader) Opinion {
	var opinion Opinion
	fields := wire.NewFields("action", "reason", "pattern_matched")
	for name := range r.Members() {
		switch fields.Named(r, name) {
		case "action":
			opinion.Action = Action(r.TextOrNull())
		case "reason":
			opinion.Reason = r.TextOrNull()
		case "pattern_matched":
			opinion.PatternMatched = r.TextOrNull()
		default:
			r.Skip()
		}
	}
	return opinion
}
