package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// evidenceItem is one item of evidence, as far as the demo model reads it.
type evidenceItem struct {
	EvidenceID string         `json:"evidence_id"`
	Title      string         `json:"title"`
	Facts      []evidenceFact `json:"facts"`
}

type evidenceFact struct {
	Value string `json:"value"`
}

// demoReport is the report of the demo model.
type demoReport struct {
	Summary            string        `json:"summary"`
	Findings           []demoFinding `json:"findings"`
	LikelyCause        string        `json:"likely_cause"`
	RecommendedActions []string      `json:"recommended_actions"`
}

type demoFinding struct {
	Statement   string   `json:"statement"`
	Severity    string   `json:"severity"`
	EvidenceIDs []string `json:"evidence_ids"`
}

// evidenceIn returns the evidence that tools brought; what failed brought none.
func evidenceIn(results []string) []evidenceItem {
	var all []evidenceItem
	for _, result := range results {
		var found struct {
			Evidence []evidenceItem `json:"evidence"`
		}
		if json.Unmarshal([]byte(result), &found) == nil {
			all = append(all, found.Evidence...)
		}
	}
	return all
}

// reportOn repeats what the evidence says, one finding for each item: the demo model knows nothing beside it.
func reportOn(items []evidenceItem) string {
	report := demoReport{
		Summary:            items[0].Title + ".",
		LikelyCause:        "A scripted demo model cannot tell. Read what the findings quote.",
		RecommendedActions: []string{"Look at the cited evidence.", "Configure a language model that draws conclusions."},
	}
	for _, item := range items {
		finding := demoFinding{Statement: item.Title + ".", Severity: "info", EvidenceIDs: []string{item.EvidenceID}}
		if said := item.says(); said != "" {
			finding.Statement += fmt.Sprintf(" The newest one says “%s”.", said)
			finding.Severity = "warning"
		}
		report.Findings = append(report.Findings, finding)
	}
	text, err := json.Marshal(report)
	if err != nil {
		return "" // strings are always JSON
	}
	return string(text)
}

// says is the first text among the facts, empty for none. Typographic quotation marks would end its quotation.
func (i evidenceItem) says() string {
	for _, fact := range i.Facts {
		if !number(fact.Value) && !strings.ContainsAny(fact.Value, "“”") {
			return fact.Value
		}
	}
	return ""
}

func number(text string) bool { return strings.Trim(text, "-.0123456789") == "" }

// gathering are the calls with which a diagnosis begins, as far as its tools are there.
func gathering(tools []Tool) []run.ToolCall {
	var calls []run.ToolCall
	for _, tool := range tools {
		switch tool.Name {
		case "query_logs":
			calls = append(calls, run.ToolCall{Name: tool.Name, Arguments: `{"query":"/error|timed out/i","limit":5}`})
		case "query_metrics":
			calls = append(calls, run.ToolCall{Name: tool.Name, Arguments: `{"query":"ALERTS{alertstate=\"firing\"}"}`})
		}
	}
	return calls
}
