package release

import "strings"

// spokenOf reports whether the word at this place is spoken of as a tool: in a span of code, called like a function,
// beside the word tool, or behind a word of use.
func spokenOf(answer string, start, end int) bool {
	before, after := answer[:start], answer[end:]
	if strings.HasSuffix(before, "`") && strings.HasPrefix(after, "`") || strings.HasPrefix(after, "(") {
		return true
	}
	switch firstWord(after) {
	case "tool", "tools", "function", "plugin":
		return true
	}
	last, previous := lastWords(before)
	if last == "the" {
		last = previous
	}
	switch last {
	case "tool", "tools", "function", "plugin", "used", "using", "called", "calling", "ran", "running", "invoked",
		"invoking", "via":
		return true
	}
	return false
}

// firstWord is the word that stands behind a term, in small letters.
func firstWord(after string) string {
	after = strings.TrimLeft(after, quotes)
	words := strings.Fields(after[:min(len(after), 40)])
	if len(words) == 0 || !strings.ContainsAny(after[:1], " \n") {
		return ""
	}
	return bare(words[0])
}

// lastWords are the two words before a term, in small letters.
func lastWords(before string) (last, previous string) {
	before = strings.TrimRight(before, quotes)
	words := strings.Fields(before[max(0, len(before)-60):])
	if len(words) == 0 || strings.ContainsAny(words[len(words)-1], ".!?:;") {
		return "", "" // another sentence
	}
	last = bare(words[len(words)-1])
	if len(words) > 1 {
		previous = bare(words[len(words)-2])
	}
	return last, previous
}

// quotes are what may stand around a name.
const quotes = "`\"'“”‘’«»*_"

// bare is a word in small letters without what stands around it.
func bare(word string) string { return fold(strings.Trim(word, quotes+".,:;!?()[]")) }
