package release

import (
	"errors"
	"strings"
)

// Bounds of what a model is told about a rejected draft.
const (
	maxAdvised     = 20
	maxAdvisedText = 400 // bytes of one reason
)

// objections are what guards have against a draft.
type objections []string

// Error joins them.
func (o objections) Error() string { return strings.Join(o, "; ") }

// advice tells the model what to mend. Nobody else reads it.
func (e *Exit) advice(err error) string {
	var out strings.Builder
	out.WriteString("Your answer was checked and is not accepted. What is wrong with it:\n")
	var reasons objections
	if !errors.As(err, &reasons) {
		reasons = objections{err.Error()}
	}
	for i, reason := range reasons {
		if i == maxAdvised {
			out.WriteString("- and more of that kind\n")
			break
		}
		out.WriteString("- " + inOneLine(reason) + "\n")
	}
	if len(reasons) == 0 {
		out.WriteString("- it holds more than what was found\n")
	}
	out.WriteString(e.form())
	return out.String()
}

// form says how the next answer must look.
func (e *Exit) form() string {
	if e.cfg.Kind != ContentReport {
		return "Answer once more, in plain words, without tools, instructions, SQL, file paths, secrets or ids."
	}
	return `Answer once more with one JSON object and nothing around it: {"summary":…,"findings":[{"statement":…,"severity":"info"|"warning"|"critical","evidence_ids":[…]}],"likely_cause":…,"recommended_actions":[…]}. ` +
		"Cite only evidence_ids of this run. Write numbers, names and quotations exactly as the evidence you cite has them, and leave out what it does not hold. " +
		"The summary states nothing that no finding states. Name no tools, instructions, SQL, file paths, secrets or ids of sessions."
}

// inOneLine shows the beginning of a reason.
func inOneLine(reason string) string {
	reason = strings.Join(strings.Fields(strings.ToValidUTF8(reason, "")), " ")
	if len(reason) > maxAdvisedText {
		reason = strings.ToValidUTF8(reason[:maxAdvisedText], "") + "…"
	}
	return reason
}
