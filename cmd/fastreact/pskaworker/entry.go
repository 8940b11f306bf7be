package pskaworker

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// entry is a decoded object and the objects inside it that may hold its fields too.
type entry []map[string]any

func readEntry(raw json.RawMessage) (entry, bool) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var top map[string]any
	if decoder.Decode(&top) != nil || top == nil {
		return nil, false
	}
	if inner, ok := top["job"].(map[string]any); ok {
		top = inner
	}
	layers := entry{top}
	for _, key := range []string{"payload", "params", "input", "args"} {
		if inner, ok := top[key].(map[string]any); ok {
			layers = append(layers, inner)
		}
	}
	return layers, true
}

// text returns the first of the fields that holds a text or a number.
func (e entry) text(keys ...string) string {
	for _, layer := range e {
		for _, key := range keys {
			if text := written(layer[key]); text != "" {
				return text
			}
		}
	}
	return ""
}

func written(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}

func (e entry) object(key string) map[string]any {
	for _, layer := range e {
		if value, ok := layer[key].(map[string]any); ok {
			return value
		}
	}
	return nil
}

// priority reads a number, higher first, or one of the usual words.
func (e entry) priority() float64 {
	text := strings.ToLower(e.text("priority"))
	words := map[string]float64{"urgent": 100, "critical": 100, "high": 10, "normal": 0, "medium": 0, "low": -10}
	if rank, known := words[text]; known {
		return rank
	}
	rank, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return rank
}

// moment reads a time as RFC 3339, without a zone (UTC), or as seconds since 1970.
func (e entry) moment(keys ...string) time.Time {
	text := e.text(keys...)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		return time.UnixMilli(int64(seconds * 1000))
	}
	return time.Time{}
}

// scope gathers what bounds the job to knowledge bases and sources.
func (e entry) scope() map[string]any {
	found := map[string]any{}
	layers := append(entry{}, e...)
	if inner := e.object("scope"); inner != nil {
		layers = append(layers, inner)
	}
	for _, key := range []string{"knowledge_base_ids", "source_item_ids"} {
		for _, layer := range layers {
			if list, ok := layer[key].([]any); ok && len(list) > 0 && found[key] == nil {
				found[key] = list
			}
		}
	}
	return found
}
