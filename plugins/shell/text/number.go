package text

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// leadingNumber reads the decimal number at the start of a text; without one it is 0.
func leadingNumber(text string) float64 {
	text = strings.TrimLeft(text, " \t")
	end := 0
	if end < len(text) && text[end] == '-' {
		end++
	}
	dot := false
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.' && !dot) {
		dot = dot || text[end] == '.'
		end++
	}
	number, err := strconv.ParseFloat(strings.TrimSuffix(text[:end], "."), 64)
	if err != nil {
		return 0
	}
	return number
}

func generalNumber(text string) float64 {
	text = strings.TrimSpace(text)
	for end := len(text); end > 0; end-- {
		if number, err := strconv.ParseFloat(text[:end], 64); err == nil {
			return number
		}
	}
	return math.Inf(-1)
}

// humanNumber reads a number with a unit, such as 2.5M. The unit counts more than the number, as in du's output.
func humanNumber(text string) float64 {
	text = strings.TrimLeft(text, " \t")
	digits := strings.TrimLeft(strings.TrimPrefix(text, "-"), "0123456789.")
	unit := 0
	if digits != "" {
		unit = strings.IndexByte("KMGTPEZY", strings.ToUpper(digits)[0]) + 1
	}
	return leadingNumber(text) * math.Pow(1024, float64(unit))
}

func monthNumber(text string) int {
	text = strings.ToUpper(strings.TrimLeft(text, " \t"))
	for i, month := range strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC") {
		if strings.HasPrefix(text, month) {
			return i + 1
		}
	}
	return 0
}

// compareVersions compares runs of digits as numbers and everything else as text.
func compareVersions(a, b string) int {
	for a != "" || b != "" {
		var textA, textB, numberA, numberB string
		textA, a = prefix(a, false)
		textB, b = prefix(b, false)
		if order := strings.Compare(textA, textB); order != 0 {
			return order
		}
		numberA, a = prefix(a, true)
		numberB, b = prefix(b, true)
		numberA, numberB = strings.TrimLeft(numberA, "0"), strings.TrimLeft(numberB, "0")
		if order := cmp.Or(cmp.Compare(len(numberA), len(numberB)), strings.Compare(numberA, numberB)); order != 0 {
			return order
		}
	}
	return 0
}

// prefix splits off the digits, or what is no digit, at the start of a text.
func prefix(text string, digits bool) (head, rest string) {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9') == digits {
		end++
	}
	return text[:end], text[end:]
}
