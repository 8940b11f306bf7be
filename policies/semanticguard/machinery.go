package semanticguard

import "strings"

// namesTools reports whether a text names a tool of a diagnosis or another word of the runtime. Underscores, hyphens
// and marks of emphasis between the words of a name hide nothing.
func namesTools(plain string) bool {
	tight := squeezed(plain)
	for _, name := range []string{"querymetrics", "querylogs", "querymysql", "toolcallid", "toolpolicydenied", "safetyblocked", "safetydenied", "mcperror", "evidenceids"} {
		if strings.Contains(tight, name) {
			return true
		}
	}
	for _, name := range []string{"read_file", "write_file", "edit_file", "list_files", "search_files", "tool_policy", "tool_call", "tool_result", "tool_args"} {
		if wholeWord(plain, name) {
			return true
		}
	}
	return false
}

// wholeWord reports whether a word stands in a text and is no part of a longer one, as metrics have them.
func wholeWord(plain, name string) bool {
	for at := 0; ; {
		next := strings.Index(plain[at:], name)
		if next < 0 {
			return false
		}
		start, end := at+next, at+next+len(name)
		if (start == 0 || !inName(plain[start-1])) && (end == len(plain) || !inName(plain[end])) {
			return true
		}
		at = end
	}
}

func inName(c byte) bool { return isAlnum(c) || c == '_' }

// squeezed leaves out what may stand inside a name.
func squeezed(text string) string {
	if !strings.ContainsAny(text, "_-*~'\\") {
		return text
	}
	return strings.NewReplacer("_", "", "-", "", "*", "", "~", "", "'", "", `\`, "").Replace(text)
}

// speaksOfPrompts reports whether a text speaks of what the model was told.
func speaksOfPrompts(plain string) bool {
	for _, words := range []string{
		"system prompt", "system message", "developer prompt", "developer message", "my instructions", "my prompt",
		"these instructions", "the instructions i", "was instructed", "were instructed", "am instructed", "previous instructions",
		"<|", "|>", "[inst]", "### instruction", "### system", "<system>", "</system>", "<tool", "</tool", "<think>", "</think>",
	} {
		if strings.Contains(plain, words) {
			return true
		}
	}
	return false
}
