package claim

import "strings"

// unit is a unit of which is known that it is none of the others. none is also every unit that is not known.
type unit byte

const (
	none unit = iota
	nanoseconds
	microseconds
	milliseconds
	seconds
	minutes
	hours
	days
	percent
	bytes
	kilobytes
	megabytes
	gigabytes
	terabytes
	ordinal // no unit: the number says which one
)

// String tells units apart in a key.
func (u unit) String() string { return string(rune('a' + u)) }

// unitOf returns the unit that a word in small letters names. The decimal and the binary kilobyte are one.
func unitOf(word string) (unit, bool) {
	switch word {
	case "ns", "nanosecond", "nanoseconds":
		return nanoseconds, true
	case "us", "microsecond", "microseconds":
		return microseconds, true
	case "ms", "msec", "msecs", "millisecond", "milliseconds":
		return milliseconds, true
	case "s", "sec", "secs", "second", "seconds":
		return seconds, true
	case "m", "min", "mins", "minute", "minutes":
		return minutes, true
	case "h", "hr", "hrs", "hour", "hours":
		return hours, true
	case "d", "day", "days":
		return days, true
	case "%", "percent", "pct":
		return percent, true
	case "st", "nd", "rd", "th":
		return ordinal, true
	}
	return sizeOf(word)
}

func sizeOf(word string) (unit, bool) {
	switch word {
	case "b", "byte", "bytes":
		return bytes, true
	case "kb", "kib", "kilobyte", "kilobytes", "kibibytes":
		return kilobytes, true
	case "mb", "mib", "megabyte", "megabytes", "mebibytes":
		return megabytes, true
	case "gb", "gib", "gigabyte", "gigabytes", "gibibytes":
		return gigabytes, true
	case "tb", "tib", "terabyte", "terabytes", "tebibytes":
		return terabytes, true
	}
	return none, false
}

// timesOf returns by how many digits a word behind a number makes it larger.
func timesOf(word string) (digits int, ok bool) {
	switch word {
	case "k", "thousand":
		return 3, true
	case "million":
		return 6, true
	case "billion":
		return 9, true
	}
	return 0, false
}

// measured is a number with the word that is written to it. Other words than units give nothing away: 5 replicas.
func measured(value, suffix string) (quantity, bool) {
	if digits, ok := timesOf(suffix); ok {
		return quantity{shifted(value, digits), none}, true
	}
	if u, ok := unitOf(suffix); ok {
		return quantity{value, u}, true
	}
	return quantity{value, none}, suffix == "" || suffix == "x"
}

// withUnit reads the unit that stands behind a number in the text.
func (q quantity) withUnit(behind string) quantity {
	if q.unit != none {
		return q
	}
	behind = strings.TrimPrefix(strings.TrimPrefix(behind, " "), "\u00a0")
	if strings.HasPrefix(behind, "%") {
		return quantity{q.value, percent}
	}
	n := 0
	for n < len(behind) && word(behind, n) > 0 {
		n += word(behind, n)
	}
	if n == 1 && len(behind) > 1 && behind[1] == '\'' { // a letter of its own, as in 5 d'or
		return q
	}
	if known, ok := measured(q.value, behind[:n]); ok && known.unit != ordinal && behind[:n] != "k" && behind[:n] != "x" {
		return known
	}
	return q
}
