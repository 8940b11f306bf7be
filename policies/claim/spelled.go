package claim

import (
	"strconv"
	"strings"
)

// spelled reads an English number that the chains begin with, and returns of how many chains it is made. The words
// one, two and three alone are no numbers: they are said of anything.
func spelled(text string, all []chain) (q quantity, length int) {
	total, part, last := 0, 0, 0
	for i, c := range all {
		if i > 0 && !beside(text, all[i-1], c) {
			break
		}
		if c.text == "and" && i > 0 && last == i { // one hundred and five
			continue
		}
		words := strings.Split(c.text, "-")
		if total > 1e12 || part > 1e12 || !counted(words, &total, &part) {
			break
		}
		last = i + 1
	}
	sum := total + part
	if last == 0 || last == 1 && (all[0].text == "one" || all[0].text == "two" || all[0].text == "three") {
		return quantity{}, 0
	}
	return quantity{strconv.Itoa(sum), none}, last
}

// beside reports whether a chain follows the one before after a blank.
func beside(text string, before, c chain) bool {
	return text[before.end:c.start] == " "
}

// counted adds number words to what was read before them. It reports whether all of them are some.
func counted(words []string, total, part *int) bool {
	sum, rest := *total, *part
	for _, word := range words {
		value := cardinal(word)
		switch {
		case value < 0:
			return false
		case value == 12 && word == "dozen", value == 100:
			rest = max(rest, 1) * value
		case value >= 1000:
			sum, rest = sum+max(rest, 1)*value, 0
		default:
			rest += value
		}
	}
	*total, *part = sum, rest
	return true
}

// cardinal is the number of an English number word, or -1.
func cardinal(word string) int {
	switch word {
	case "dozen":
		return 12
	case "hundred":
		return 100
	case "thousand":
		return 1000
	case "million":
		return 1e6
	case "billion":
		return 1e9
	}
	for i, name := range []string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
		"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	} {
		if word == name {
			return i
		}
	}
	for i, name := range []string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"} {
		if word == name {
			return 20 + 10*i
		}
	}
	return -1
}
