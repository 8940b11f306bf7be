package harness

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// greets reports whether a text in small letters begins with a greeting or thanks.
func greets(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, words := range greetings() {
		if rest, found := strings.CutPrefix(text, words); found && ends(words, rest) {
			return true
		}
	}
	return false
}

// ends reports whether a word is over where rest begins. hi is over in "hi, there", and is not in "high" or "hi-res";
// scripts that write without spaces need no end.
func ends(word, rest string) bool {
	if last, _ := utf8.DecodeLastRuneInString(word); unspaced(last) {
		return true
	}
	next, size := utf8.DecodeRuneInString(rest)
	if rest == "" || unicode.IsSpace(next) {
		return true
	}
	if inWord(next) {
		return false
	}
	after, _ := utf8.DecodeRuneInString(rest[size:])
	return !strings.ContainsRune("-./:@_'’", next) || !inWord(after)
}

func inWord(r rune) bool {
	return unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) || r == '_'
}

// unspaced reports whether a letter belongs to a script that writes without spaces.
func unspaced(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// greetings are words with which people begin who want nothing yet, or with which they thank.
func greetings() []string {
	return []string{
		"hi", "hello", "hey", "hiya", "howdy", "greetings", "good morning", "good afternoon", "good evening", "good day",
		"thanks", "thank you", "thx", "many thanks", "cheers",
		"hallo", "guten morgen", "guten tag", "guten abend", "moin", "servus", "grüß gott", "grüezi", "grüß dich",
		"danke", "vielen dank", "besten dank", "herzlichen dank",
		"bonjour", "bonsoir", "salut", "coucou", "merci",
		"hola", "buenos días", "buenos dias", "buenas tardes", "buenas noches", "gracias", "muchas gracias",
		"ciao", "buongiorno", "buonasera", "grazie", "olá", "bom dia", "obrigado", "obrigada",
		"hoi", "goedemorgen", "goedemiddag", "dank je", "dank u", "hej", "tack", "cześć", "dzień dobry", "dziękuję",
		"привет", "здравствуйте", "спасибо",
		"你好", "您好", "早上好", "下午好", "晚上好", "谢谢", "多谢", "こんにちは", "おはよう", "ありがとう",
		"안녕하세요", "감사합니다",
	}
}
