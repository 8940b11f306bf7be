package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk/report"
)

// Canonical bounds the evidence of one run. Evidence above a bound rejects the draft; nothing is ever left out.
type Canonical struct {
	TTL          time.Duration // since the result that holds the evidence was stored
	MaxItems     int
	MaxItemBytes int // of one item, as canonical JSON; 0: that of all
	MaxBytes     int // of all items, as canonical JSON
}

// EvidenceTools lists the tools whose results hold evidence, which are those of a diagnosis.
func EvidenceTools() []string { return []string{"query_metrics", "query_logs", "query_mysql"} }

// store is the evidence of one run in the order in which it was found: a view of its log.
type store struct {
	items map[string]report.Item
	whole []byte // a JSON list, the same bytes for the same evidence
}

// read takes the evidence out of a run's results. What cannot be read, or is above a bound, is an error.
func (c Canonical) read(results []run.Event, now time.Time) (store, error) {
	s := store{items: map[string]report.Item{}, whole: []byte{'['}}
	for _, event := range results {
		holds, err := holdsEvidence(event)
		if err != nil {
			return store{}, err
		}
		if !holds {
			continue
		}
		if now.Sub(event.Time) > c.TTL {
			return store{}, fmt.Errorf("evidence is older than %s", c.TTL)
		}
		items, err := report.DecodeResult([]byte(event.Content))
		if err != nil {
			return store{}, err
		}
		for _, item := range items {
			if err := s.add(item, c); err != nil {
				return store{}, err
			}
		}
	}
	s.whole = append(s.whole, ']')
	if len(s.whole) > c.MaxBytes {
		return store{}, fmt.Errorf("the evidence has more than %d bytes", c.MaxBytes)
	}
	return s, nil
}

func (s *store) add(item report.Item, bounds Canonical) error {
	if _, known := s.items[item.ID]; known {
		return errors.New("two items of evidence have one id")
	}
	if len(s.items) == bounds.MaxItems {
		return fmt.Errorf("there are more than %d items of evidence", bounds.MaxItems)
	}
	if len(s.items) > 0 {
		s.whole = append(s.whole, ',')
	}
	before := len(s.whole)
	s.whole = item.Append(s.whole)
	if bounds.MaxItemBytes > 0 && len(s.whole)-before > bounds.MaxItemBytes {
		return fmt.Errorf("an item of evidence has more than %d bytes", bounds.MaxItemBytes)
	}
	if len(s.whole) > bounds.MaxBytes {
		return fmt.Errorf("the evidence has more than %d bytes", bounds.MaxBytes)
	}
	s.items[item.ID] = item
	return nil
}

// holdsEvidence reports whether an event is the result of an evidence tool that succeeded.
func holdsEvidence(event run.Event) (bool, error) {
	if event.Kind != run.ToolResult || !slices.Contains(EvidenceTools(), event.ToolName) {
		return false, nil
	}
	var outcome struct {
		IsError bool `json:"is_error"`
	}
	if err := json.Unmarshal(event.Metadata, &outcome); err != nil {
		return false, fmt.Errorf("read result: %w", err)
	}
	return !outcome.IsError, nil
}

// cited lists the items that a report cites, each once, in the order of their first citation.
func (s store) cited(r report.Report) ([]report.Item, error) {
	cited, known := []report.Item{}, map[string]bool{}
	for i, finding := range r.Findings {
		for _, id := range finding.EvidenceIDs {
			item, found := s.items[id]
			if !found {
				return nil, fmt.Errorf("findings[%d].evidence_ids names evidence that this run does not have", i)
			}
			if !known[id] {
				known[id] = true
				cited = append(cited, item)
			}
		}
	}
	return cited, nil
}
