// Package fact is the form in which evidence leaves a source: items with an id, a title that tells nothing secret, facts
// and an excerpt, all of it bounded. Where evidence comes from is known to the rooms beside this one.
package fact

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Fact is one thing that was observed. Value is written as the source wrote it: a number stays the text of that number.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Unit  string `json:"unit"` // such as "s" or "bytes"; empty when the source tells none
}

// Item is one piece of canonical evidence. Its title may be shown to anybody: it holds no value, label, path or statement
// that came from the source or from the caller.
type Item struct {
	EvidenceID string `json:"evidence_id"`
	Source     string `json:"source"` // metrics, logs or mysql
	Title      string `json:"title"`
	ObservedAt string `json:"observed_at"` // RFC 3339, in UTC
	Facts      []Fact `json:"facts"`
	Excerpt    string `json:"excerpt"` // at most Bounds.Excerpt bytes
}

// Answer is what a tool found out. Note says what was left out and why.
type Answer struct {
	Evidence []Item `json:"evidence"`
	Note     string `json:"note,omitempty"`
}

// Bounds limit one answer. All of them are positive.
type Bounds struct {
	Facts   int // facts of one item
	Value   int // bytes of one fact's name, and of its value
	Excerpt int // bytes of an excerpt
	Bytes   int // bytes of the whole answer as JSON
}

// At writes an instant as items have it.
func At(instant time.Time) string { return instant.UTC().Format(time.RFC3339Nano) }

// Encode writes an answer as JSON and holds it to its bounds: texts are cut, facts are dropped from the end, and the note
// says how many.
func (b Bounds) Encode(answer Answer) (string, error) {
	left := 0
	for i := range answer.Evidence {
		left += b.hold(&answer.Evidence[i])
	}
	note := answer.Note
	for {
		answer.Note = joined(note, left)
		text, err := marshal(answer)
		if err != nil {
			return "", err
		}
		if len(text) <= b.Bytes {
			return text, nil
		}
		dropped := dropHalf(answer.Evidence)
		if dropped == 0 {
			return "", fmt.Errorf("encode evidence: %d bytes are more than %d", len(text), b.Bytes)
		}
		left += dropped
	}
}

// marshal writes JSON for a reader who is no browser: < stays <.
func marshal(answer Answer) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		return "", fmt.Errorf("encode evidence: %w", err)
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// hold cuts one item to its bounds and returns how many facts were dropped.
func (b Bounds) hold(item *Item) (dropped int) {
	if dropped = len(item.Facts) - b.Facts; dropped > 0 {
		item.Facts = item.Facts[:b.Facts]
	}
	if item.Facts == nil {
		item.Facts = []Fact{}
	}
	for i, one := range item.Facts {
		item.Facts[i] = Fact{Cut(one.Name, b.Value), Cut(one.Value, b.Value), Cut(one.Unit, b.Value)}
	}
	item.Excerpt = Cut(item.Excerpt, b.Excerpt)
	return max(dropped, 0)
}

// dropHalf removes half of the facts of the item that has most of them.
func dropHalf(items []Item) int {
	most := -1
	for i := range items {
		if most < 0 || len(items[i].Facts) > len(items[most].Facts) {
			most = i
		}
	}
	if most < 0 || len(items[most].Facts) == 0 {
		return 0
	}
	facts := items[most].Facts
	dropped := (len(facts) + 1) / 2
	items[most].Facts = facts[:len(facts)-dropped]
	return dropped
}

func joined(note string, left int) string {
	if left == 0 {
		return note
	}
	if note != "" {
		note += " "
	}
	return note + fmt.Sprintf("%d facts were left out; ask for less at once.", left)
}

// Cut makes text readable and at most limit bytes long: control characters other than line ends and tabs, and bytes that
// are no UTF-8, become question marks; what is cut ends with an ellipsis.
func Cut(text string, limit int) string {
	clean := make([]rune, 0, min(len(text), limit))
	size := 0
	for _, r := range text {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' || isBidi(r) {
			r = '?'
		}
		if size += utf8.RuneLen(r); size > limit {
			return ellipsis(clean, limit)
		}
		clean = append(clean, r)
	}
	return string(clean)
}

func ellipsis(kept []rune, limit int) string {
	const mark = "…"
	text := string(kept)
	for len(text)+len(mark) > limit && len(kept) > 0 {
		kept = kept[:len(kept)-1]
		text = string(kept)
	}
	if limit < len(mark) {
		return ""
	}
	return text + mark
}

// isBidi finds characters that change the order in which a line is shown.
func isBidi(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F
}
