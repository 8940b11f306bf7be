package claim

import (
	"strings"
	"unicode"
)

// numbersAndNames lists the numbers of a plain text, and the names that have digits in them.
func numbersAndNames(text string) []Claim {
	var found []Claim
	all := chains(text)
	for i := 0; i < len(all); i++ {
		if all[i].digits {
			if !wellKnown(all[i].text) {
				found = append(found, all[i].claim(text, dayAt(text, all, i)))
			}
			if i+1 < len(all) && beside(text, all[i], all[i+1]) && isTimes(all[i+1].text) {
				i++ // the number was multiplied by it
			}
			continue
		}
		if q, length := spelled(text, all[i:]); length > 0 {
			last := all[i+length-1]
			q = q.withUnit(text[last.end:])
			found = append(found, Claim{Number, text[all[i].start:last.end], []want{{numbers: []quantity{q}}}})
			i += length - 1
		}
	}
	return append(found, oddNumbers(text)...)
}

// isTimes reports whether a word multiplies the number before it.
func isTimes(word string) bool {
	_, ok := timesOf(word)
	return ok && word != "k"
}

// oddNumbers lists the runes that are numbers and no decimal digits, such as ½, ² and ⑫.
func oddNumbers(text string) []Claim {
	var found []Claim
	for _, r := range text {
		if r > unicode.MaxASCII && unicode.IsNumber(r) && !unicode.IsDigit(r) {
			found = append(found, Claim{Name, string(r), []want{{name: string(r)}}})
		}
	}
	return found
}

// claim says what a chain with digits claims. beside is the date that it is a part of.
func (c chain) claim(text string, beside date) Claim {
	claim := Claim{Kind: Name, Text: c.text}
	if beside.known() {
		claim.any = []want{{name: beside.sorted}, {name: beside.written}}
		if !beside.doubtful {
			return claim
		}
	}
	if numbers := c.numbers(text[c.end:]); len(numbers) > 0 {
		claim.Kind = Number
		if c.negative {
			claim.Text = "-" + claim.Text
			numbers[0].value = negated(numbers[0].value)
		}
		claim.any = append(claim.any, want{numbers: numbers})
	}
	if claim.Kind == Name || strings.ContainsAny(c.text, "-/:,") || len(span(c.text)) > 0 {
		claim.any = append(claim.any, want{name: c.text})
	}
	if pieces := strings.Split(c.text, ","); len(pieces) == 2 { // 3,5 may be two columns
		if listed := quantities(pieces); len(listed) > 0 {
			claim.any = append(claim.any, want{numbers: listed, loose: true})
		}
	}
	claim.any = append(claim.any, c.otherNames()...)
	return claim
}

// otherNames are what else a chain may be called: a version without its v, a quantile, a class of HTTP status.
func (c chain) otherNames() []want {
	switch {
	case len(c.text) == 3 && c.text[0] >= '1' && c.text[0] <= '5' && c.text[1:] == "xx":
		return []want{{status: c.text[0], derived: true}}
	case strings.Count(c.text, ".") > 1 && isDigit(c.text[0]):
		return []want{{name: "v" + c.text}}
	case c.text[0] == 'p' && len(c.text) > 2:
		digits := strings.ReplaceAll(c.text[1:], ".", "")
		if value, ok := canonical("0", digits, 0); ok && strings.Trim(digits, "0123456789") == "" {
			return []want{{numbers: []quantity{{value, none}}, derived: true}}
		}
	}
	return nil
}

// wellKnown reports whether a name with digits is a word of the trade that claims nothing about anything observed.
func wellKnown(name string) bool {
	switch name {
	case "k8s", "utf-8", "utf8", "ipv4", "ipv6", "http/1.1", "http/2", "http2", "http/3", "sha256", "sha-256", "base64",
		"oauth2", "s3", "ec2", "l4", "l7", "x86", "x86_64", "arm64", "amd64", "h2":
		return true
	}
	return false
}

// numbers are the numbers of a chain; nil when it is a name, a date or a time.
func (c chain) numbers(behind string) []quantity {
	if q, ok := quantityOf(c.text); ok {
		return []quantity{q.withUnit(behind)}
	}
	switch {
	case c.calendar():
		return nil
	case len(span(c.text)) > 0:
		return span(c.text)
	case strings.Contains(c.text, ","):
		return quantities(strings.Split(c.text, ","))
	case strings.Count(c.text, "-") == 1:
		first, second, _ := strings.Cut(c.text, "-")
		return pair(first, second, behind)
	case strings.Count(c.text, "/") == 1:
		return quantities(strings.Split(c.text, "/"))
	}
	if name, number, ok := strings.Cut(c.text, ":"); ok && !strings.ContainsAny(name, "0123456789") { // status:500
		return quantities([]string{number})
	}
	return nil
}

// calendar reports whether a chain begins like a date: 2026-11 is no range.
func (c chain) calendar() bool {
	return len(c.text) >= len("2026-11") && shaped(c.text[:len("2026-11")], "0000-00") &&
		(len(c.text) == len("2026-11") || !isDigit(c.text[len("2026-11")]))
}

// span reads a duration of several parts, such as 1h30m0s. Parts of zero say nothing.
func span(text string) []quantity {
	var parts []quantity
	count := 0
	for text != "" {
		digits, rest := leadingDigits(text)
		letters := 0
		for letters < len(rest) && !isDigit(rest[letters]) {
			letters++
		}
		u, known := unitOf(rest[:letters])
		value, ok := canonical(digits, "", 0)
		if digits == "" || !ok || !known || u > days {
			return nil
		}
		if value != "0" {
			parts = append(parts, quantity{value, u})
		}
		count++
		text = rest[letters:]
	}
	if count < 2 {
		return nil
	}
	return parts
}

// pair reads a range such as 5-10, whose unit may stand behind it, or a number with the thing it counts: 5-minute.
func pair(first, second, behind string) []quantity {
	if both := quantities([]string{first, second}); len(both) > 0 {
		both[1] = both[1].withUnit(behind)
		if both[0].unit == none {
			both[0].unit = both[1].unit
		}
		return both
	}
	q, ok := quantityOf(first)
	if !ok || strings.ContainsAny(second, "0123456789") {
		return nil
	}
	return []quantity{q.withUnit(second)}
}

// quantities reads several numbers, all of them or none.
func quantities(texts []string) []quantity {
	var all []quantity
	for _, text := range texts {
		q, ok := quantityOf(text)
		if !ok {
			return nil
		}
		all = append(all, q)
	}
	return all
}

// quantityOf reads a text that is a number, with a unit written to it or not.
func quantityOf(text string) (quantity, bool) {
	value, suffix, ok := scanNumber(text)
	if !ok {
		return quantity{}, false
	}
	return measured(value, suffix)
}
