// Package claim finds what a text claims, numbers, names with digits in them and quotations, and whether other texts
// hold it. A number is compared by its value, whatever its spelling: 1,234 and 1.234e3 are one number. A number that
// is a part of a name or a date is no number by itself: db-7 does not hold 7.
//
// It reads no language. It does not see: claims without numbers and quotation marks; the words one, two and three,
// ordinals, fractions and multiples written as words; number words other than English ones, and CJK numerals; times of
// day with am or pm. Nothing is converted or rounded: 3.5 s is not 3500 ms, and 2.42 is not 2.4187. A percentage and
// its fraction (95% and 0.95), and a percentile and its quantile (p95, 95th and 0.95), are the same.
package claim

import "strings"

// Kind says what a claim is.
type Kind string

// The kinds of claim.
const (
	Number    Kind = "number"
	Name      Kind = "name" // with a digit in it, dates and times among them
	Quotation Kind = "quotation"
)

// Claim is one thing that a text says and that can be looked up.
type Claim struct {
	Kind Kind
	Text string // as it is compared: small letters, plain digits and quotation marks
	any  []want // one of them suffices
}

// want is what must be held, all of it.
type want struct {
	numbers []quantity
	name    string
	quote   []string // pieces, in any place
	status  byte     // a class of HTTP status, '5' for 5xx
	derived bool     // the text does not hold it itself
	loose   bool     // a text may hold it, but claims something else
}

// Claims lists what a text claims, in the order of the text within each kind, every claim once.
func Claims(text string) []Claim {
	normal := unmarked(plain(text))
	found := newList()
	for _, claim := range numbersAndNames(normal) {
		found.add(claim)
	}
	for _, claim := range quotations(normal) {
		found.add(claim)
	}
	return found.claims
}

// unmarked takes out the marks of emphasis that stand inside a number: on paper 1**3** is 13.
func unmarked(text string) string {
	if !strings.ContainsAny(text, `*~\`) {
		return text
	}
	out := make([]byte, 0, len(text))
	for at := 0; at < len(text); at++ {
		next := at
		for next < len(text) && strings.IndexByte(`*~\`, text[next]) >= 0 {
			next++
		}
		if next > at && next < len(text) && isDigit(text[next]) && len(out) > 0 && isDigit(out[len(out)-1]) {
			at = next
		}
		out = append(out, text[at])
	}
	return string(out)
}

// Missing lists the claims of a text that none of the holdings holds.
func Missing(text string, by ...*Holdings) []Claim {
	var missing []Claim
	for _, claim := range Claims(text) {
		if !held(claim, by) {
			missing = append(missing, claim)
		}
	}
	return missing
}

func held(claim Claim, by []*Holdings) bool {
	for _, h := range by {
		if h.Hold(claim) {
			return true
		}
	}
	return false
}

// list holds each claim once.
type list struct {
	claims []Claim
	known  map[string]bool
}

func newList() *list { return &list{known: map[string]bool{}} }

func (l *list) add(claim Claim) {
	key := string(claim.Kind) + " " + claim.key()
	if l.known[key] {
		return
	}
	l.known[key] = true
	l.claims = append(l.claims, claim)
}

// key tells claims apart that are written alike and mean different numbers, such as 5 s and 5 ms.
func (c Claim) key() string {
	key := c.Text
	for _, w := range c.any {
		for _, q := range w.numbers {
			key += " " + q.value + q.unit.String()
		}
		key += " " + w.name
	}
	return key
}
