package claim

import (
	"strconv"
	"strings"
)

// quantity is a number with the unit it is given in.
type quantity struct {
	value string // canonical: no exponent, no zeros that say nothing
	unit  unit
}

// maxDigits bounds a number; a longer one is compared as a name, letter for letter.
const maxDigits = 400

// scanNumber reads the number that a text begins with, and returns what is left. Groups of thousands may be parted by
// one sign throughout; a comma that is no such sign is a decimal one.
func scanNumber(text string) (value, rest string, ok bool) {
	whole, rest := grouped(text)
	if whole == "" {
		return "", text, false
	}
	fraction := ""
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && isDigit(rest[1]) {
		fraction, rest = leadingDigits(rest[1:])
	}
	exponent, rest := exponentOf(rest)
	value, ok = canonical(whole, fraction, exponent)
	return value, rest, ok
}

// grouped reads digits, in groups of thousands or not.
func grouped(text string) (whole, rest string) {
	whole, rest = leadingDigits(text)
	if len(whole) > 3 || whole == "" {
		return whole, rest
	}
	for _, sign := range []string{",", "'", "_", "\u00a0", "."} {
		groups, left := whole, rest
		count := 0
		for strings.HasPrefix(left, sign) && threeDigits(left[len(sign):]) {
			groups += left[len(sign) : len(sign)+3]
			left = left[len(sign)+3:]
			count++
		}
		// a single point is a decimal one, and two may be a version: with a comma behind them they part groups
		if count == 0 || sign == "." && !strings.HasPrefix(left, ",") || strings.HasPrefix(left, sign) {
			continue
		}
		return groups, left
	}
	return whole, rest
}

func leadingDigits(text string) (digits, rest string) {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return text[:n], text[n:]
}

// exponentOf reads an exponent such as e3 or e-05; without one it is 0.
func exponentOf(text string) (exponent int, rest string) {
	if !strings.HasPrefix(text, "e") {
		return 0, text
	}
	signed := text[1:]
	sign := 1
	if strings.HasPrefix(signed, "-") || strings.HasPrefix(signed, "+") {
		if signed[0] == '-' {
			sign = -1
		}
		signed = signed[1:]
	}
	digits, rest := leadingDigits(signed)
	number, err := strconv.Atoi(digits)
	if err != nil || number > maxDigits || word(rest, 0) > 0 {
		return 0, text
	}
	return sign * number, rest
}

// canonical writes a number without exponent and needless zeros.
func canonical(whole, fraction string, exponent int) (string, bool) {
	if len(whole)+len(fraction) > maxDigits {
		return "", false
	}
	digits := whole + fraction
	point := len(whole) + exponent
	if point < 0 {
		digits, point = strings.Repeat("0", -point)+digits, 0
	}
	if point > len(digits) {
		digits += strings.Repeat("0", point-len(digits))
	}
	whole = strings.TrimLeft(digits[:point], "0")
	fraction = strings.TrimRight(digits[point:], "0")
	if whole == "" {
		whole = "0"
	}
	if fraction == "" {
		return whole, true
	}
	return whole + "." + fraction, true
}

// shifted moves the point of a canonical number: by 3 it is a thousand times as large.
func shifted(value string, by int) string {
	sign := ""
	if strings.HasPrefix(value, "-") {
		sign, value = "-", value[1:]
	}
	whole, fraction, _ := strings.Cut(value, ".")
	value, _ = canonical(whole, fraction, by)
	return sign + value
}

func negated(value string) string {
	if value == "0" {
		return value
	}
	return "-" + value
}
