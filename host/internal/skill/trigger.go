package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// occurs reports whether the words of a trigger stand in a text, as whole words and whatever their case. In scripts
// that write words without spaces any place counts.
func occurs(trigger, text string) bool {
	trigger, text = strings.ToLower(trigger), strings.ToLower(text)
	for from := 0; ; {
		at := strings.Index(text[from:], trigger)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(trigger)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		first, size := utf8.DecodeRuneInString(text[start:])
		last, _ := utf8.DecodeLastRuneInString(text[:end])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !oneWord(before, first) && !oneWord(last, after) {
			return true
		}
		from = start + size
	}
}

// oneWord reports whether two neighbours belong to one word.
func oneWord(left, right rune) bool { return inWord(left) && inWord(right) }

func inWord(r rune) bool {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
}
