package gate

import (
	"encoding/json"
	"slices"
)

// cited is a citation as knowledge tools write it.
type cited struct {
	SourceItemID any `json:"source_item_id"`
	SourceID     any `json:"source_id"`
}

func (c cited) source() string {
	if id, isText := c.SourceItemID.(string); isText && id != "" {
		return id
	}
	id, _ := c.SourceID.(string)
	return id
}

// citationsIn returns the sources that a JSON result cites: unique source_item_id or source_id values of citations[]
// and results[].citation, in the order in which they appear. A part of another shape cites nothing.
func citationsIn(content string) []string {
	sources := []string{}
	var result map[string]json.RawMessage
	if json.Unmarshal([]byte(content), &result) != nil {
		return sources
	}
	add := func(raw json.RawMessage) {
		var c cited
		if json.Unmarshal(raw, &c) != nil {
			return
		}
		if id := c.source(); id != "" && !slices.Contains(sources, id) {
			sources = append(sources, id)
		}
	}
	for _, citation := range elements(result["citations"]) {
		add(citation)
	}
	for _, entry := range elements(result["results"]) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(entry, &fields) == nil {
			add(fields["citation"])
		}
	}
	return sources
}

func elements(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}
