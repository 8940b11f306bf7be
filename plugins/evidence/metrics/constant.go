package metrics

import (
	"regexp"
	"slices"
	"strings"
)

// What PromQL has beside the names of metrics: texts, comments and windows, lists of labels, and words.
var (
	quotedParts = regexp.MustCompile("\"(?:\\\\.|[^\"\\\\])*\"|'(?:\\\\.|[^'\\\\])*'|`[^`]*`|#[^\n]*|\\[[^\\]]*\\]")
	labelLists  = regexp.MustCompile(`(?i)\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	anyWord     = regexp.MustCompile(`[0-9][\w.]*|[A-Za-z_:][\w:]*(\s*\()?`)
)

// constant reports whether a query selects no series: its answer is what it holds itself, as of vector(42).
func constant(query string) bool {
	query = quotedParts.ReplaceAllString(query, " ")
	if strings.Contains(query, "{") {
		return false
	}
	query = labelLists.ReplaceAllString(query, " ")
	words := []string{"and", "or", "unless", "atan2", "bool", "offset", "inf", "nan", "by", "without", "group_left", "group_right"}
	for _, word := range anyWord.FindAllString(query, -1) {
		if word[0] > '9' && !strings.HasSuffix(word, "(") && !slices.Contains(words, strings.ToLower(word)) {
			return false
		}
	}
	return true
}
