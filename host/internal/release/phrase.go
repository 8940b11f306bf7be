package release

import (
	"strings"
	"unicode"
)

// phraseWords is how many words in a row are no accident.
const phraseWords = 8

// phrases are the runs of words of texts that must not leave.
type phrases map[string]bool

func newPhrases(texts []string) phrases {
	all := phrases{}
	for _, text := range texts {
		words := spoken(text)
		for i := 0; i+phraseWords <= len(words); i++ {
			all[strings.Join(words[i:i+phraseWords], " ")] = true
		}
	}
	return all
}

// within reports whether a text holds one of the phrases, whatever stands between the words.
func (p phrases) within(text string) bool {
	if len(p) == 0 {
		return false
	}
	words := spoken(text)
	for i := 0; i+phraseWords <= len(words); i++ {
		if p[strings.Join(words[i:i+phraseWords], " ")] {
			return true
		}
	}
	return false
}

// spoken lists the words of a text in small letters.
func spoken(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
