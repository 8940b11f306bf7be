package claim

import "strings"

// Holdings is what texts hold that others may claim. The zero value is not ready; NewHoldings makes one. It is for one
// goroutine.
type Holdings struct {
	numbers map[string]units
	words   []string // plain texts that may be quoted
	names   []string // plain texts that names may come from
	looked  map[string]bool
	status  [10]bool // by first digit, of numbers that can be an HTTP status
}

// units are the units in which a number stands somewhere.
type units uint32

// NewHoldings returns holdings of nothing.
func NewHoldings() *Holdings {
	return &Holdings{numbers: map[string]units{}, looked: map[string]bool{}}
}

// Add takes up a text with its numbers, names and words.
func (h *Holdings) Add(text string) {
	normal := plain(text)
	h.words = append(h.words, oneMark(normal))
	h.names = append(h.names, normal)
	for _, claim := range numbersAndNames(normal) {
		for _, w := range claim.any {
			h.take(w)
		}
		if isDate(claim.Text) {
			h.count(quantity{claim.Text[:4], none})
		}
	}
}

func (h *Holdings) take(w want) {
	if w.derived {
		return
	}
	for _, q := range w.numbers {
		h.count(q)
	}
	if len(w.name) > len("-11-30") && w.name[0] != '-' && isDate(w.name) {
		h.names = append(h.names, w.name)
	}
}

// AddNames takes up a text of which only names count.
func (h *Holdings) AddNames(text string) { h.names = append(h.names, plain(text)) }

// AddQuantity takes up a number, as JSON writes it, with its unit.
func (h *Holdings) AddQuantity(number, unit string) {
	digits, negative := strings.CutPrefix(number, "-")
	value, rest, ok := scanNumber(strings.ToLower(digits))
	if !ok || rest != "" {
		return
	}
	if negative {
		value = negated(value)
	}
	known, _ := measured(value, plain(unit))
	h.count(known)
}

func (h *Holdings) count(q quantity) {
	if len(q.value) == 3 && isDigit(q.value[0]) && isDigit(q.value[1]) {
		h.status[q.value[0]-'0'] = true
	}
	h.numbers[q.value] |= 1 << q.unit
	if q.unit == percent {
		h.numbers[shifted(q.value, -2)] |= 1 << none
	}
}

// Hold reports whether the holdings hold a claim.
func (h *Holdings) Hold(claim Claim) bool {
	for _, w := range claim.any {
		if h.all(w) {
			return true
		}
	}
	return false
}

func (h *Holdings) all(w want) bool {
	if w.loose {
		return false
	}
	for _, q := range w.numbers {
		if !h.number(q) {
			return false
		}
	}
	for _, piece := range w.quote {
		if !h.said(piece) {
			return false
		}
	}
	return (w.name == "" || h.named(w.name)) && (w.status == 0 || h.status[w.status-'0'])
}

func (h *Holdings) number(q quantity) bool {
	stands := h.numbers[q.value]
	switch {
	case stands == 0:
	case q.unit == none, q.unit == ordinal, stands&(1<<none|1<<q.unit) != 0:
		return true
	}
	switch q.unit {
	case percent:
		return h.numbers[shifted(q.value, -2)]&(1<<none) != 0
	case ordinal:
		return h.quantile(q.value)
	}
	return false
}

// quantile reports whether a percentile is held: 95 as p95 or 0.95.
func (h *Holdings) quantile(percentile string) bool {
	return h.numbers[shifted(percentile, -2)]&(1<<none) != 0 || h.named("p"+percentile)
}

// said reports whether words stand in one of the texts, from where a word begins to where one ends.
func (h *Holdings) said(words string) bool {
	key := "\"" + words
	if known, ok := h.looked[key]; ok {
		return known
	}
	h.looked[key] = anywhere(h.words, words, wholeWords)
	return h.looked[key]
}

// Named reports whether a name stands in one of the texts, in small letters or capitals, and not as a part of another.
func (h *Holdings) Named(name string) bool { return h.named(plain(name)) }

// named reports whether a name stands in one of the texts.
func (h *Holdings) named(name string) bool {
	if known, ok := h.looked[name]; ok {
		return known
	}
	h.looked[name] = anywhere(h.names, name, wholeName)
	return h.looked[name]
}

// anywhere reports whether part stands in one of the texts where its surroundings leave it whole.
func anywhere(texts []string, part string, whole func(before, part, after string) bool) bool {
	for _, text := range texts {
		for at := 0; ; {
			next := strings.Index(text[at:], part)
			if next < 0 {
				break
			}
			at += next
			if whole(text[:at], part, text[at+len(part):]) {
				return true
			}
			at++
		}
	}
	return false
}

func wholeWords(before, part, after string) bool {
	return (word(part, 0) == 0 || wordBefore(before) == 0) && (wordBefore(part) == 0 || word(after, 0) == 0)
}

// wholeName reports whether a name is not cut out of a longer number, date or address. It may be the beginning of a
// longer name: db-7 of db-7:3306, and 10:15 of 10:15:00.
func wholeName(before, name, after string) bool {
	if !wholeWords(before, name, after) {
		return false
	}
	if n := len(before); isDigit(name[0]) && n > 1 && strings.IndexByte(".,:-/", before[n-1]) >= 0 && isDigit(before[n-2]) {
		return false
	}
	goesOn := len(after) > 1 && (after[0] == '.' || after[0] == ',') && isDigit(after[1])
	return !goesOn || !isDigit(name[len(name)-1]) || strings.Contains(name, ":")
}
