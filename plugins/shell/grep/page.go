package grep

import (
	"fmt"
	"slices"
	"strings"
)

// page is the search of one input: where it is and what it has shown.
type page struct {
	*search
	name   string
	number int   // of the line
	offset int64 // of the line
	found  int
	shown  int      // number of the last line shown
	tail   int      // lines of context still to show
	recent []string // lines before, for the context
	binary bool
}

// line looks at the next line and says whether there is reason to go on.
func (p *page) line(text string) (more bool, err error) {
	p.number++
	defer func() { p.offset += int64(len(text)) + 1 }()
	if strings.IndexByte(text, 0) >= 0 && !p.o.Has("a") {
		p.binary = true
	}
	spans := p.spans(text)
	if (spans != nil) == p.o.Has("v") {
		return p.around(text)
	}
	p.found++
	p.matched = true
	switch {
	case p.o.Has("q"), p.o.Has("l"), p.o.Has("L"):
		return false, nil
	case p.o.Has("c"):
		return p.limit < 0 || p.found < p.limit, nil
	case p.binary && p.o.Has("I"):
		return false, nil
	case p.binary:
		return false, p.c.Print("Binary file "+p.name+" matches", '\n')
	}
	if p.o.Has("o") {
		err = p.showParts(text, spans)
	} else {
		err = p.show(text)
	}
	if err != nil {
		return false, err
	}
	p.tail = p.after
	return p.limit < 0 || p.found < p.limit || p.tail > 0, nil
}

// showParts prints what matches of a line.
func (p *page) showParts(text string, spans [][]int) error {
	for _, span := range spans {
		if span[1] == span[0] {
			continue
		}
		if err := p.print(text[span[0]:span[1]], ":", p.offset+int64(span[0])); err != nil {
			return err
		}
	}
	return nil
}

// spans returns where the line matches, nil when it does not.
func (p *page) spans(text string) [][]int {
	var spans [][]int
	for _, pattern := range p.patterns {
		group := pattern.SubexpIndex("word")
		for _, found := range pattern.FindAllStringSubmatchIndex(text, -1) {
			span := found[2*max(group, 0) : 2*max(group, 0)+2]
			if group <= 0 || alone(text, span) {
				spans = append(spans, span)
			}
		}
		if len(spans) > 0 && !p.o.Has("o") {
			return spans
		}
	}
	slices.SortStableFunc(spans, func(a, b []int) int { return a[0] - b[0] })
	return spans
}

// alone reports whether a match has no word character beside it.
func alone(text string, span []int) bool {
	return (span[0] == 0 || !wordByte(text[span[0]-1])) && (span[1] == len(text) || !wordByte(text[span[1]]))
}

func wordByte(ch byte) bool {
	return ch == '_' || ch >= '0' && ch <= '9' || ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z' || ch >= 128
}

// around keeps or shows a line that does not count.
func (p *page) around(text string) (more bool, err error) {
	if p.tail > 0 {
		p.tail--
		p.shown = p.number
		err = p.print(text, "-", p.offset)
		return p.limit < 0 || p.found < p.limit || p.tail > 0, err
	}
	if p.before > 0 {
		p.recent = append(p.recent, text)
		if len(p.recent) > p.before {
			p.recent = p.recent[1:]
		}
	}
	return p.limit < 0 || p.found < p.limit, nil
}

// show prints a line that matches, with what comes before it.
func (p *page) show(text string) error {
	if (p.before > 0 || p.after > 0) && p.shown > 0 && p.number-len(p.recent) > p.shown+1 {
		if err := p.c.Print("--", '\n'); err != nil {
			return err
		}
	}
	number := p.number
	for i, line := range p.recent {
		p.number = number - len(p.recent) + i
		if err := p.print(line, "-", p.offset); err != nil {
			return err
		}
	}
	p.number, p.recent, p.shown = number, nil, number
	return p.print(text, ":", p.offset)
}

func (p *page) print(text, mark string, offset int64) error {
	var b strings.Builder
	if p.names {
		b.WriteString(p.name + mark)
	}
	if p.o.Has("n") {
		fmt.Fprintf(&b, "%d%s", p.number, mark)
	}
	if p.o.Has("b") {
		fmt.Fprintf(&b, "%d%s", offset, mark)
	}
	b.WriteString(text)
	return p.c.Print(b.String(), '\n')
}

// end prints what is said about an input as a whole.
func (p *page) end() error {
	terminator := byte('\n')
	if p.o.Has("Z") {
		terminator = 0
	}
	switch {
	case p.o.Has("q"):
	case p.o.Has("l") && p.found > 0, p.o.Has("L") && p.found == 0:
		p.matched = true
		return p.c.Print(p.name, terminator)
	case p.o.Has("c") && p.names:
		return p.c.Print(fmt.Sprintf("%s:%d", p.name, p.found), '\n')
	case p.o.Has("c"):
		return p.c.Print(fmt.Sprint(p.found), '\n')
	}
	return nil
}
