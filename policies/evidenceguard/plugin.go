// Package evidenceguard keeps a diagnosis to its evidence: every finding cites items of its run, every number, every
// name with digits and every quotation of a statement stands in an item it cites, and those of the summary and the
// likely cause stand in an item that some finding cites. Recommended actions propose and claim nothing; they are not
// looked at. Package claim says what counts as the same number, and what is not seen.
package evidenceguard

import (
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/policies/claim"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/report"
)

// Plugin is the evidence-guard plugin. The zero value is ready and may be used by many goroutines at once.
type Plugin struct{}

// Review releases a draft whose claims its evidence holds. A draft that is a plain text claims nothing.
func (Plugin) Review(request sdk.ReviewRequest) (sdk.Review, error) {
	draft, err := report.DecodeDraft(request.Draft)
	if err != nil {
		return sdk.Review{Verdict: sdk.Repair, Reasons: []string{err.Error()}}, nil
	}
	if draft.Report == nil {
		return sdk.Review{Verdict: sdk.Release, Reasons: []string{}}, nil
	}
	items, err := report.DecodeItems(request.Evidence)
	if err != nil {
		return sdk.Review{Verdict: sdk.Fallback, Reasons: []string{err.Error()}}, nil
	}
	e := examination{store: map[string]report.Item{}, held: map[string]*claim.Holdings{}, reasons: []string{}}
	for _, item := range items {
		e.store[item.ID] = item
	}
	e.examine(*draft.Report)
	if len(e.reasons) > 0 {
		return sdk.Review{Verdict: sdk.Repair, Reasons: e.reasons}, nil
	}
	return sdk.Review{Verdict: sdk.Release, Reasons: e.reasons}, nil
}

// maxReasons bounds what a model is told at once.
const maxReasons = 16

// examination is the review of one report.
type examination struct {
	store   map[string]report.Item
	held    map[string]*claim.Holdings // of cited items
	all     []*claim.Holdings          // the same, in the order of their first citation
	reasons []string
}

func (e *examination) examine(r report.Report) {
	for i, finding := range r.Findings {
		place := fmt.Sprintf("findings[%d]", i)
		e.compare(place+".statement", finding.Statement, e.cited(place, finding.EvidenceIDs))
	}
	e.compare("summary", r.Summary, e.all)
	e.compare("likely_cause", r.LikelyCause, e.all)
}

// cited looks up the items that a finding cites.
func (e *examination) cited(place string, ids []string) []*claim.Holdings {
	var cited []*claim.Holdings
	for _, id := range ids {
		item, known := e.store[id]
		if !known {
			e.object(place + " cites " + quoted(id) + ", which is no evidence_id of this run")
			continue
		}
		if e.held[id] == nil {
			e.held[id] = holdings(item)
			e.all = append(e.all, e.held[id])
		}
		cited = append(cited, e.held[id])
	}
	return cited
}

// holdings are what an item holds. Source and id hold names only.
func holdings(item report.Item) *claim.Holdings {
	h := claim.NewHoldings()
	for _, fact := range item.Facts {
		h.Add(strings.TrimSpace(fact.Name + " " + fact.Value + " " + fact.Unit))
	}
	h.Add(item.Excerpt)
	h.Add(item.ObservedAt)
	h.Add(item.Title)
	h.AddNames(item.Source)
	h.AddNames(item.ID)
	return h
}

func (e *examination) compare(place, text string, held []*claim.Holdings) {
	for _, missing := range claim.Missing(text, held...) {
		e.object(fmt.Sprintf("%s: the %s %s stands in no evidence that is cited for it", place, missing.Kind, quoted(missing.Text)))
	}
}

func (e *examination) object(reason string) {
	if len(e.reasons) < maxReasons {
		e.reasons = append(e.reasons, reason)
	}
}

// quoted shows the beginning of a text.
func quoted(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return `"` + text + `"`
}
