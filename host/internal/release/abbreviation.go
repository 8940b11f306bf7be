package release

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// abbreviated reports whether the dot behind text belongs to its last word: an abbreviation, an initial, or the number
// of a list or a day. number says that a number follows.
func abbreviated(text string, number bool) bool {
	word := lastWord(text)
	switch {
	case word == "":
		return false
	case utf8.RuneCountInString(word) == 1:
		letter, _ := utf8.DecodeRuneInString(word)
		return unicode.IsLetter(letter) || unicode.IsDigit(letter)
	case len(word) == 2 && strings.Trim(word, "0123456789") == "":
		return true
	case strings.Contains(word, "."):
		return initials(word)
	}
	word = strings.ToLower(word)
	return known(word) || number && (word == "no" || word == "nos")
}

// lastWord is what stands behind the last blank or opening mark of text.
func lastWord(text string) string {
	cut := strings.LastIndexFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("([{\"'“‘«—–", r)
	})
	if cut < 0 {
		return text
	}
	_, size := utf8.DecodeRuneInString(text[cut:])
	return text[cut+size:]
}

// initials reports whether a word is letters with dots between them, such as e.g or U.S.
func initials(word string) bool {
	for _, part := range strings.Split(word, ".") {
		if utf8.RuneCountInString(part) != 1 {
			return false
		}
	}
	return true
}

// known reports whether a word in small letters is an abbreviation behind which a sentence goes on, whatever follows.
func known(word string) bool {
	switch word {
	case "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "rev", "gen", "gov", "capt", "col", "hon", "messrs",
		"vs", "cf", "fig", "figs", "eq", "sec", "ch", "vol", "vols", "ed", "eds", "pp", "al", "approx",
		"est", "art", "dept", "univ", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov",
		"dec", "viz", "ca", "resp", "incl", "excl", "nr", "bzw", "vgl", "evtl", "abb", "tab", "kap", "hr", "fr",
		"str", "mme", "mlle", "sra", "núm", "pág", "env", "inc", "ltd", "corp", "bros":
		return true
	}
	return false
}
