package claim

import (
	"strconv"
	"strings"
)

// date is a day that is written with the name of its month.
type date struct {
	sorted   string // 2026-11-30, or -11-30 of any year
	written  string // as it stands in the text
	doubtful bool   // the name may be another word: may, march
}

func (d date) known() bool { return d.sorted != "" }

// dayAt returns the date that a chain of digits is a part of, when the name of a month stands beside it.
func dayAt(text string, all []chain, at int) date {
	for month := max(0, at-2); month <= at+2 && month < len(all); month++ {
		number := monthOf(all[month].text)
		if number == 0 {
			continue
		}
		day, year := dayBeside(text, all, month)
		if day == "" || day != all[at].text && year != all[at].text {
			continue
		}
		first, last := min(at, month), max(at, month)
		return date{
			sorted: year + "-" + two(number) + "-" + two(dayOf(day)), written: text[all[first].start:all[last].end],
			doubtful: number == 5 || number == 3,
		}
	}
	return date{}
}

// dayBeside finds the day and the year that stand around the name of a month.
func dayBeside(text string, all []chain, month int) (day, year string) {
	at := func(i int) string {
		if i < 0 || i >= len(all) || month-2 > i || i > month+2 {
			return ""
		}
		between := text[min(all[i].end, all[month].end):max(all[i].start, all[month].start)]
		if len(between) > len(" 30th, november ") {
			return ""
		}
		return all[i].text
	}
	if dayOf(at(month-1)) > 0 {
		return at(month - 1), yearOf(at(month + 1))
	}
	if dayOf(at(month+1)) > 0 {
		return at(month + 1), yearOf(at(month + 2))
	}
	return "", ""
}

// dayOf is the day of a month that a text names, or 0.
func dayOf(text string) int {
	digits, suffix := leadingDigits(text)
	day, err := strconv.Atoi(digits)
	if u, _ := unitOf(suffix); err != nil || day > 31 || suffix != "" && u != ordinal {
		return 0
	}
	return day
}

// yearOf returns a text of four digits, or nothing.
func yearOf(text string) string {
	if len(text) != 4 || strings.Trim(text, "0123456789") != "" {
		return ""
	}
	return text
}

// monthOf is the number of the month that a word names, or 0.
func monthOf(word string) int {
	if len(word) < 3 {
		return 0
	}
	for i, name := range []string{
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
		"december",
	} {
		if word == name || word == name[:3] || word == "sept" && i == 8 {
			return i + 1
		}
	}
	return 0
}

func two(number int) string {
	if number < 10 {
		return "0" + strconv.Itoa(number)
	}
	return strconv.Itoa(number)
}
