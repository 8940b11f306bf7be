package claim

import "strings"

// chain is letters and digits with single signs between them, such as 1,234.5, db-7:3306 or 2026-11-30.
type chain struct {
	text       string
	start, end int  // in the plain text
	negative   bool // a minus stands before it
	digits     bool // it has some
}

// chains cuts a plain text into its chains. Scripts without Latin letters part them: they are written without blanks.
func chains(text string) []chain {
	var found []chain
	for at := 0; at < len(text); {
		size := word(text, at)
		if size == 0 {
			at++
			continue
		}
		c := chain{start: at}
		for at < len(text) {
			if size = word(text, at); size > 0 {
				c.digits = c.digits || isDigit(text[at])
				at += size
				continue
			}
			if size = joiner(text, at); size == 0 {
				break
			}
			at += size
		}
		c.end, c.text = at, text[c.start:at]
		found = append(found, c.signed(text))
	}
	return found
}

// signed reads what stands before a chain of digits: a minus, or the point of .5.
func (c chain) signed(text string) chain {
	before := text[:c.start]
	if before == "" || !isDigit(text[c.start]) {
		return c
	}
	last := before[len(before)-1]
	free := len(before) == 1 || !strings.ContainsRune(")].-", rune(before[len(before)-2])) && wordBefore(before[:len(before)-1]) == 0
	switch {
	case last == '-' && free:
		c.negative = true
	case last == '.' && free && strings.Trim(c.text, "0123456789") == "":
		c.text = "0." + c.text
	}
	return c
}

// word returns the size of the letter, digit or underscore at a place, or 0.
func word(text string, at int) int {
	if at >= len(text) {
		return 0
	}
	c := text[at]
	switch {
	case isDigit(c), 'a' <= c && c <= 'z', c == '_':
		return 1
	case c >= 0xc3 && c <= 0xc9 && at+1 < len(text): // Latin letters with accents; signs were replaced
		return 2
	}
	return 0
}

// wordBefore returns the size of the letter, digit or underscore that a text ends with, or 0.
func wordBefore(text string) int {
	for size := 1; size <= 2 && size <= len(text); size++ {
		if word(text, len(text)-size) == size {
			return size
		}
	}
	return 0
}

// joiner returns the size of the sign at a place that joins what stands before and behind it, or 0.
func joiner(text string, at int) int {
	if at == 0 || at+1 >= len(text) {
		return 0
	}
	before, after := text[at-1], text[at+1]
	switch text[at] {
	case '.', ':', '-', '/', '@':
		return min(1, word(text, at+1))
	case ',':
		if isDigit(before) && isDigit(after) {
			return 1
		}
	case '\'':
		if isDigit(before) && threeDigits(text[at+1:]) {
			return 1
		}
	case '+':
		if before == 'e' && at > 1 && isDigit(text[at-2]) && isDigit(after) {
			return 1
		}
	case 0xc2: // the thin blank
		if after == 0xa0 && isDigit(before) && threeDigits(text[at+2:]) {
			return 2
		}
	}
	return 0
}

// threeDigits reports whether a text begins with three digits and no more.
func threeDigits(text string) bool {
	return len(text) >= 3 && isDigit(text[0]) && isDigit(text[1]) && isDigit(text[2]) && (len(text) == 3 || !isDigit(text[3]))
}
