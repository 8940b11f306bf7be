package release

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences cuts a text into its sentences, each with the blanks behind it; joined they are the text again. A block of
// code is one, as is a line of a list, a table or a heading. Where an end is in doubt there is none: too long a piece
// harms less than half a sentence.
func Sentences(text string) []string {
	var out []string
	begin := 0
	for _, end := range cuts(text) {
		if strings.TrimSpace(text[begin:end]) != "" || end == len(text) {
			out = append(out, text[begin:end])
			begin = end
		}
	}
	return out
}

// cuts are the places behind the pieces of a text, the last one its end. Blanks belong to the piece before them.
func cuts(text string) []int {
	var ends []int
	for _, b := range blocks(text) {
		if strings.TrimSpace(text[b.from:b.to]) == "" && len(ends) > 0 {
			ends[len(ends)-1] = b.to
			continue
		}
		if !b.whole {
			ends = append(ends, prose(text[b.from:b.to], b.from)...)
		}
		if len(ends) == 0 || ends[len(ends)-1] < b.to {
			ends = append(ends, b.to)
		}
	}
	return ends
}

// prose returns the places behind the sentences of a paragraph that begins at a place.
func prose(text string, place int) []int {
	var out []int
	begin := 0
	for at := 0; at < len(text); {
		if span := codeSpan(text[at:]); span > 0 {
			at += span
			continue
		}
		letter, size := utf8.DecodeRuneInString(text[at:])
		if !ends(letter) {
			at += size
			continue
		}
		next := behind(text, at+size)
		if isEnd(text, begin, at, letter, next) {
			next += len(text[next:]) - len(strings.TrimLeftFunc(text[next:], unicode.IsSpace))
			out = append(out, place+next)
			begin = next
		}
		at = next
	}
	return out
}

// codeSpan is the length of a span of code that text begins with; 0 when there is none.
func codeSpan(text string) int {
	ticks := len(text) - len(strings.TrimLeft(text, "`"))
	if ticks == 0 {
		return 0
	}
	fence := text[:ticks]
	if closing := strings.Index(text[ticks:], fence); closing >= 0 {
		return ticks + closing + ticks
	}
	return 0
}

// ends reports whether a letter may end a sentence.
func ends(letter rune) bool {
	return strings.ContainsRune(".!?…", letter) || endsWithoutBlank(letter)
}

// endsWithoutBlank reports whether a letter ends a sentence of a script that puts no blank behind it, or that knows no
// other use for it.
func endsWithoutBlank(letter rune) bool {
	return strings.ContainsRune("。！？｡．؟۔।॥።", letter)
}

// behind returns the place behind more marks and closing quotes.
func behind(text string, at int) int {
	for at < len(text) {
		letter, size := utf8.DecodeRuneInString(text[at:])
		if !ends(letter) && !strings.ContainsRune("\"'”’»)]}」』）】*_", letter) {
			return at
		}
		at += size
	}
	return at
}

// isEnd reports whether the mark at a place ends the sentence that began at begin. next is the place behind it.
func isEnd(text string, begin, at int, mark rune, next int) bool {
	if next == len(text) || endsWithoutBlank(mark) {
		return true
	}
	following, _ := utf8.DecodeRuneInString(text[next:])
	if !unicode.IsSpace(following) {
		return false
	}
	rest := strings.TrimLeftFunc(text[next:], unicode.IsSpace)
	first, _ := utf8.DecodeRuneInString(rest)
	if unicode.IsLower(first) {
		return false
	}
	return mark != '.' || !abbreviated(text[begin:at], unicode.IsDigit(first))
}
