// Package semanticguard keeps in what an answer must not say: names of tools, words of prompts, SQL, files and places
// in source code, secrets, and the ids of sessions and runs. Of a diagnosis it also asks that the report is whole, and
// that its summary names nothing that no finding carries.
//
// It knows patterns and no meanings. It does not see: a secret without a shape or a keyword, a paraphrase of a prompt,
// a file named without a folder, SQL told in words, and in a summary every claim without a number, a quotation or a
// name. Capitalised words of a summary are not taken for names where a quarter of its words are capitalised, nor in
// German.
package semanticguard

import (
	"fmt"
	"unicode"

	"github.com/fastreact/fastreact/policies/claim"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/report"
)

// Plugin is the semantic-guard plugin. The zero value is ready and may be used by many goroutines at once.
type Plugin struct{}

// maxBytes bounds a draft whatever the host allows.
const maxBytes = 6 << 20

// Review releases a draft that discloses nothing and whose summary its findings carry.
func (Plugin) Review(request sdk.ReviewRequest) (sdk.Review, error) {
	if len(request.Draft) > maxBytes {
		return verdict(sdk.Fallback, "the draft is too large"), nil
	}
	draft, err := report.DecodeDraft(request.Draft)
	if err != nil {
		return verdict(sdk.Repair, err.Error()), nil
	}
	items, err := report.DecodeItems(request.Evidence)
	if err != nil {
		return verdict(sdk.Fallback, err.Error()), nil
	}
	var e examination
	e.secrets = secretsOf(items)
	if draft.Report == nil {
		e.disclosure("text", draft.Text)
	} else {
		e.examine(*draft.Report, items)
	}
	if len(e.reasons) > 0 {
		return verdict(sdk.Repair, e.reasons...), nil
	}
	return verdict(sdk.Release), nil
}

func verdict(v sdk.GuardVerdict, reasons ...string) sdk.Review {
	return sdk.Review{Verdict: v, Reasons: append([]string{}, reasons...)}
}

// maxReasons bounds what a model is told at once.
const maxReasons = 16

// examination is the review of one draft.
type examination struct {
	secrets []string // values of the evidence, as they are compared
	reasons []string
}

func (e *examination) object(place, what string) {
	if len(e.reasons) < maxReasons {
		e.reasons = append(e.reasons, place+": "+what)
	}
}

func (e *examination) examine(r report.Report, items []report.Item) {
	e.disclosure("summary", r.Summary)
	e.disclosure("likely_cause", r.LikelyCause)
	cited := map[string]bool{}
	for i, finding := range r.Findings {
		e.disclosure(fmt.Sprintf("findings[%d].statement", i), finding.Statement)
		for _, id := range finding.EvidenceIDs {
			cited[id] = true
		}
	}
	for i, action := range r.RecommendedActions {
		e.disclosure(fmt.Sprintf("recommended_actions[%d]", i), action)
	}
	for _, item := range items {
		if cited[item.ID] {
			e.disclosure("the title of evidence "+item.ID, item.Title+" \n"+item.Source)
		}
	}
	e.ground(r, items, cited)
}

// disclosure looks for what must not be said.
func (e *examination) disclosure(place, text string) {
	if disguised(text) {
		e.object(place, "it has control characters or turns the direction of writing")
	}
	plain := claim.Plain(text)
	for _, look := range []struct {
		found bool
		what  string
	}{
		{namesTools(plain), "it names a tool or a word of the runtime"},
		{speaksOfPrompts(plain), "it speaks of instructions or prompts"},
		{holdsSQL(text, plain), "it holds SQL"},
		{holdsPath(plain), "it names a file or a place in source code"},
		{holdsSecret(text, plain) || e.repeatsSecret(plain), "it holds what looks like a secret"},
		{holdsID(plain), "it holds the id of a session or a run"},
	} {
		if look.found {
			e.object(place, look.what)
		}
	}
}

// disguised reports whether a text holds control characters, or those that turn the direction of writing.
func disguised(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return true
		}
	}
	return false
}
