package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// errContent reports an answer that is none of the typed ones. It is never shown.
var errContent = errors.New("the run's answer is not typed content")

const (
	infoSeverity     severity = "info"
	warningSeverity  severity = "warning"
	criticalSeverity severity = "critical"
)

// readContent reads the answer of a run that was released: exactly the keys of its type, and nothing beside them.
func readContent(text string) (content, error) {
	var outer struct {
		Type    contentType     `json:"content_type"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := decode(json.RawMessage(text), &outer, "content_type", "payload"); err != nil {
		return content{}, err
	}
	switch outer.Type {
	case answerContent, fallbackContent:
		words, err := readSpoken(outer.Payload)
		return content{outer.Type, words}, err
	case reportContent:
		found, err := readReport(outer.Payload)
		return content{outer.Type, found}, err
	}
	return content{}, fmt.Errorf("%w: unknown type", errContent)
}

func readSpoken(raw json.RawMessage) (words spoken, err error) {
	if err := decode(raw, &words, "text"); err != nil {
		return spoken{}, err
	}
	if strings.TrimSpace(words.Text) == "" {
		return spoken{}, fmt.Errorf("%w: no text", errContent)
	}
	return words, nil
}

func readReport(raw json.RawMessage) (report, error) {
	var parts struct {
		Summary            string            `json:"summary"`
		Findings           []json.RawMessage `json:"findings"`
		LikelyCause        string            `json:"likely_cause"`
		RecommendedActions []string          `json:"recommended_actions"`
		Evidence           []json.RawMessage `json:"evidence"`
	}
	err := decode(raw, &parts, "summary", "findings", "likely_cause", "recommended_actions", "evidence")
	if err != nil {
		return report{}, err
	}
	whole := report{
		Summary: parts.Summary, Findings: []finding{}, LikelyCause: parts.LikelyCause,
		RecommendedActions: append([]string{}, parts.RecommendedActions...), Evidence: []evidence{},
	}
	for _, part := range parts.Findings {
		one, err := readFinding(part)
		if err != nil {
			return report{}, err
		}
		whole.Findings = append(whole.Findings, one)
	}
	for _, part := range parts.Evidence {
		var one evidence
		if err := decode(part, &one, "evidence_id", "source", "title", "observed_at"); err != nil {
			return report{}, err
		}
		whole.Evidence = append(whole.Evidence, one)
	}
	return whole, nil
}

func readFinding(raw json.RawMessage) (one finding, err error) {
	if err := decode(raw, &one, "statement", "severity", "evidence_ids"); err != nil {
		return finding{}, err
	}
	if !slices.Contains([]severity{infoSeverity, warningSeverity, criticalSeverity}, one.Severity) {
		return finding{}, fmt.Errorf("%w: unknown severity", errContent)
	}
	one.EvidenceIDs = append([]string{}, one.EvidenceIDs...)
	return one, nil
}

// decode reads one JSON object with exactly these keys. Its errors say nothing of what stood there.
func decode(raw json.RawMessage, into any, keys ...string) error {
	var present map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if decoder.Decode(&present) != nil || present == nil {
		return fmt.Errorf("%w: no object", errContent)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("%w: more than one value", errContent)
	}
	slices.Sort(keys)
	if !slices.Equal(keys, slices.Sorted(maps.Keys(present))) {
		return fmt.Errorf("%w: other keys", errContent)
	}
	if json.Unmarshal(raw, into) != nil {
		return fmt.Errorf("%w: wrong types", errContent)
	}
	return nil
}
