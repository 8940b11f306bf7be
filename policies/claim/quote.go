package claim

import "strings"

// quotations lists what stands in quotation marks. A double mark that is never closed quotes what follows it.
func quotations(text string) []Claim {
	var found []Claim
	text = strings.ReplaceAll(text, "''", `"`) // two single marks are a double one
	for at := 0; at < len(text); at++ {
		var end int
		switch {
		case text[at] == '"':
			end = closingDouble(text, at+1)
		case text[at] == '\'' && opensSingle(text, at):
			end = closingSingle(text, at+1)
		default:
			continue
		}
		if end < 0 {
			continue
		}
		if claim, ok := quotation(text[at+1 : end]); ok {
			found = append(found, claim)
		}
		if text[at] == '"' {
			found = append(found, quotations(text[at+1:end])...)
		}
		at = end
	}
	return found
}

// closingDouble returns where a quotation ends.
func closingDouble(text string, from int) int {
	if end := strings.IndexByte(text[from:], '"'); end >= 0 {
		return from + end
	}
	return len(text)
}

// opensSingle reports whether a single mark opens a quotation: in service's it does not.
func opensSingle(text string, at int) bool {
	return wordBefore(text[:at]) == 0 && at+1 < len(text) && text[at+1] != ' '
}

// closingSingle returns where a quotation in single marks ends, or -1: then the mark was an apostrophe.
func closingSingle(text string, from int) int {
	for at := from + 1; at < len(text); at++ {
		if text[at] == '\'' && text[at-1] != ' ' && word(text, at+1) == 0 {
			return at
		}
	}
	return -1
}

// quotation is what quoted words claim. Dots say that something was left out; a mark at the end may be the sentence's.
func quotation(content string) (Claim, bool) {
	claim := Claim{Kind: Quotation, Text: strings.TrimSpace(content)}
	exact, trimmed := want{}, want{}
	for _, piece := range strings.Split(oneMark(content), "...") {
		if piece = strings.TrimSpace(piece); strings.Trim(piece, punctuation) == "" {
			continue
		}
		exact.quote = append(exact.quote, piece)
		trimmed.quote = append(trimmed.quote, strings.TrimRight(piece, ".,;:!? "))
	}
	claim.any = []want{exact, trimmed}
	return claim, len(exact.quote) > 0
}

const punctuation = " .,;:!?'-_/()[]{}<>*#=+|\\"

// oneMark makes one mark of both kinds: a quotation inside another is written with the other kind.
func oneMark(text string) string {
	return strings.ReplaceAll(text, `"`, "'")
}
