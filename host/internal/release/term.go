package release

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// term is something that must not be said. Latin letters match in either case.
type term struct {
	kind  Kind
	text  string
	plain bool // an ordinary word: it counts only where it is spoken of as a tool
	exact bool // only its capitals set it apart from an ordinary word
	open  bool // its edges need not be those of a word
}

// nameTerm is a tool's name.
func nameTerm(name string) term {
	return term{kind: ToolName, text: name, plain: !distinctive(name), exact: distinctive(name) && !distinctive(fold(name))}
}

// distinctive reports whether a name cannot be mistaken for an ordinary word: pska_search, readFile or get-file-info,
// and not search, echo or follow-up.
func distinctive(name string) bool {
	if strings.ContainsAny(name, "_.:/") || strings.Count(name, "-") > 1 {
		return true
	}
	for i, letter := range name {
		if i > 0 && (unicode.IsUpper(letter) || unicode.IsDigit(letter)) {
			return true
		}
	}
	return false
}

// words are the names of the machinery.
func words() []term {
	var list []term
	for _, word := range []string{"GraphRAG", "FastReAct", "MCP"} {
		list = append(list, term{kind: Word, text: word})
	}
	return list
}

// markers are the words in which the runtime itself speaks to models and readers.
func markers() []term {
	var list []term
	for _, text := range []string{"[TOOL_POLICY_DENIED]", "[SAFETY_BLOCKED]", "[SAFETY_DENIED]", "[MCP_ERROR]", "[ERROR]"} {
		list = append(list, term{kind: Marker, text: text, open: true})
	}
	for _, text := range []string{
		"TOOL_POLICY_DENIED", "SAFETY_BLOCKED", "SAFETY_DENIED", "MCP_ERROR",
		"tool_call_id", "tool_policy", "tool_argument_issue", "invalid_tool_args", "tool_scope_empty",
		"tool_scope_unverifiable_result", "tool_policy_scope_applied", "scope_plugin_tampered",
	} {
		list = append(list, term{kind: Marker, text: text})
	}
	return list
}

// Marked reports whether a result begins as the runtime's own words do: those are not a tool's.
func Marked(result string) bool {
	for _, marker := range markers() {
		if marker.open && strings.HasPrefix(result, marker.text) {
			return true
		}
	}
	return false
}

// fold makes Latin capitals small and leaves every byte at its place.
func fold(text string) string {
	folded := []byte(text)
	for i, c := range folded {
		if c >= 'A' && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}
	return string(folded)
}

// places finds the term in an answer. folded is the answer with small letters.
func (t term) places(answer, folded string) [][2]int {
	var found [][2]int
	spelling := fold(t.text)
	for at := 0; ; {
		next := strings.Index(folded[at:], spelling)
		if next < 0 {
			return found
		}
		start, end := at+next, at+next+len(spelling)
		if t.counts(answer, start, end) {
			found = append(found, [2]int{start, end})
		}
		at = end
	}
}

// stands reports whether a text holds the term, spoken of as a tool or not.
func (t term) stands(text string) bool {
	t.plain = false
	return len(t.places(text, fold(text))) > 0
}

func (t term) counts(answer string, start, end int) bool {
	if t.open || t.exact && answer[start:end] != t.text {
		return t.open
	}
	if t.joined(answer[:start], answer[end:]) {
		return false
	}
	return !t.plain || spokenOf(answer, start, end)
}

// joined reports whether a term is a part of a longer word. Underscores make a longer name of it, unless they stand at
// its outer edges, where Markdown lets them emphasise; a name of the machinery gives it away in longer names too.
func (t term) joined(before, after string) bool {
	if t.kind != Word {
		before, after = strings.TrimRight(before, "_"), strings.TrimLeft(after, "_")
	} else if after != "" && (after[0] == 's' || after[0] == 'S') {
		after = after[1:] // more than one of them
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return joins(last) || joins(next)
}

// joins reports whether a letter beside a term makes it a part of a longer word. Scripts that write without spaces do
// not: the name still stands alone there.
func joins(r rune) bool {
	return r >= '0' && r <= '9' || unicode.Is(unicode.Latin, r)
}
