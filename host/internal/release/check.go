package release

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Kind says what an answer gave away.
type Kind string

// The kinds of finding.
const (
	ToolName Kind = "tool_name" // of a tool that is registered, visible to the run or not
	Marker   Kind = "marker"    // a word of the runtime, such as [SAFETY_BLOCKED]
	Word     Kind = "word"      // GraphRAG, FastReAct or MCP
)

// Finding is one place in an answer that must not leave.
type Finding struct {
	Kind       Kind
	Term       string // what must not be said, as it is registered
	start, end int    // bytes of the answer
}

// Tool is what an answer must not call a tool by.
type Tool struct {
	Name string // registered
	Raw  string // at its source
}

// Check looks through answers of one run. It never changes.
type Check struct {
	terms []term
	said  []string
}

// NewCheck returns a check for these tools. What stands in said, the words of the person who asked and of the tools
// themselves, may be said again.
func NewCheck(tools []Tool, said []string) *Check {
	c := &Check{}
	for _, text := range said {
		c.said = append(c.said, read(text).text)
	}
	known := map[string]bool{}
	add := func(t term) {
		if key := fold(t.text); key != "" && !known[key] {
			known[key] = true
			c.terms = append(c.terms, t)
		}
	}
	for _, tool := range tools {
		add(nameTerm(tool.Name))
	}
	for _, tool := range tools {
		if distinctive(tool.Raw) {
			add(nameTerm(tool.Raw))
		}
	}
	for _, marker := range markers() {
		add(marker)
	}
	for _, word := range words() {
		add(word)
	}
	return c
}

// Find returns what must not leave, by place.
func (c *Check) Find(answer string) []Finding {
	var found []Finding
	seen := read(answer)
	folded := fold(seen.text)
	for _, t := range c.terms {
		places := t.places(seen.text, folded)
		if len(places) == 0 || c.granted(t) {
			continue
		}
		for _, at := range places {
			start, end := seen.written(at[0], at[1])
			found = append(found, Finding{t.kind, t.text, start, end})
		}
	}
	return apart(found)
}

// apart orders findings by place and leaves out those that lie inside another.
func apart(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	kept, end := found[:0], 0
	for _, f := range found {
		if f.end > end {
			kept, end = append(kept, f), f.end
		}
	}
	return kept
}

// granted reports whether somebody else said the term first.
func (c *Check) granted(t term) bool {
	for _, text := range c.said {
		if t.stands(text) {
			return true
		}
	}
	return false
}

// Drop returns the answer without the sentences that must not leave, and how many they were. A dropped sentence leaves
// the end of its paragraph behind.
func (c *Check) Drop(answer string) (kept string, dropped int) {
	for found := c.Find(answer); len(found) > 0; found = c.Find(answer) {
		kept, n := drop(answer, found)
		answer, dropped = strings.TrimSpace(kept), dropped+n
	}
	return answer, dropped
}

// drop takes out every sentence that holds a finding.
func drop(answer string, found []Finding) (kept string, dropped int) {
	var left []byte
	at := 0
	for _, sentence := range Sentences(answer) {
		from := at
		at += len(sentence)
		for len(found) > 0 && found[0].end <= from {
			found = found[1:]
		}
		if len(found) > 0 && found[0].start < at {
			dropped++
			left = closeParagraph(left, sentence)
			continue
		}
		left = append(left, sentence...)
	}
	return string(left), dropped
}

// closeParagraph writes the line ends behind a dropped sentence, unless what is left ends with as many already.
func closeParagraph(left []byte, dropped string) []byte {
	ends := strings.Count(dropped[len(strings.TrimRight(dropped, blanks)):], "\n")
	kept := bytes.TrimRight(left, blanks)
	if have := bytes.Count(left[len(kept):], []byte("\n")); len(kept) > 0 && ends > have {
		return append(kept, bytes.Repeat([]byte("\n"), ends)...)
	}
	return left
}

const blanks = " \t\r\n"
