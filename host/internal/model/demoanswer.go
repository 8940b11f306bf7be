package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxQuote bounds what the demo model repeats, in characters.
const maxQuote = 240

// finding is one entry of a search result, as far as the demo model reads it.
type finding struct {
	Title        string   `json:"title"`
	Snippet      string   `json:"snippet"`
	Text         string   `json:"text"`
	Content      string   `json:"content"`
	SourceItemID string   `json:"source_item_id"`
	SourceID     string   `json:"source_id"`
	Citation     *finding `json:"citation"`
}

// findings is a search result.
type findings struct {
	Results   []finding `json:"results"`
	Citations []finding `json:"citations"`
}

// answerFrom makes an answer of what came back.
func answerFrom(results []string) string {
	var parts []string
	for _, result := range results {
		parts = append(parts, answerOne(result))
	}
	return strings.Join(parts, "\n")
}

func answerOne(result string) string {
	result = strings.TrimSpace(result)
	var found findings
	if json.Unmarshal([]byte(result), &found) == nil {
		if first, ok := found.first(); ok {
			return first.sentence()
		}
		if found.Results != nil || found.Citations != nil {
			return "I found nothing about that in the selected sources."
		}
	}
	switch {
	case result == "":
		return "It is done, and there was nothing to show."
	case refused(result):
		return "I could not do that."
	}
	return "Here is what came back: " + quote(result)
}

// refused reports whether a result is the runtime's word and not a tool's.
func refused(result string) bool {
	for _, marker := range []string{"[TOOL_POLICY_DENIED]", "[SAFETY_BLOCKED]", "[SAFETY_DENIED]", "[ERROR]", "[MCP_ERROR]"} {
		if strings.HasPrefix(result, marker) {
			return true
		}
	}
	return strings.Contains(result, `"type":"tool_argument_issue"`)
}

func (f findings) first() (finding, bool) {
	for _, list := range [][]finding{f.Results, f.Citations} {
		if len(list) > 0 {
			return list[0], true
		}
	}
	return finding{}, false
}

func (f finding) sentence() string {
	about := f
	if f.Citation != nil {
		about = *f.Citation
	}
	title := firstOf(f.Title, about.Title, "an untitled source")
	words := firstOf(f.Snippet, f.Text, f.Content, about.Snippet, about.Text)
	source := firstOf(f.SourceItemID, about.SourceItemID, f.SourceID, about.SourceID)
	answer := fmt.Sprintf("The best match is “%s”.", quote(title))
	if words != "" {
		answer += fmt.Sprintf(" It says: “%s”", quote(words))
	}
	if source != "" {
		answer += fmt.Sprintf(" [%s]", quote(source))
	}
	return answer
}

func firstOf(candidates ...string) string {
	for _, candidate := range candidates {
		if strings.TrimSpace(candidate) != "" {
			return candidate
		}
	}
	return ""
}

// quote puts text on one line and cuts it.
func quote(text string) string {
	letters := []rune(strings.Join(strings.Fields(text), " "))
	if len(letters) > maxQuote {
		return string(letters[:maxQuote]) + "…"
	}
	return string(letters)
}
