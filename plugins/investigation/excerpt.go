package investigation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fastreact/fastreact/sdk/wire"
)

// excerpt tells the beginning of what the graph says of the object, in lines of text: label, type, state and details.
// The evidence behind it is never read.
func excerpt(g *graph, n node) ([]byte, error) {
	var p projection
	for _, name := range []string{"label", "type", "state", "details"} {
		if value := n.raw(name); value != nil {
			eachText(value, func(path, text string) bool { return p.line(lineName(name, path), text) })
		}
	}
	w := wire.NewWriter(1 << 10)
	w.Text("excerpt", p.text.String())
	w.Raw("object_refs", refs([]node{n}))
	return g.end(w, p.full)
}

// lineName names a line by the member, and one of the details by the names that lead to it.
func lineName(member, path string) string {
	if path == "" {
		return member
	}
	return path
}

// projection is text of at most maxExcerpt characters.
type projection struct {
	text  strings.Builder
	count int // characters
	full  bool
}

// line adds "name: text" and reports whether there is room for more.
func (p *projection) line(name, text string) bool {
	if p.count > 0 {
		p.add("\n")
	}
	p.add(plain(name))
	p.add(": ")
	p.add(plain(text))
	return !p.full
}

// add takes as many whole characters as there is room for.
func (p *projection) add(text string) {
	for _, c := range text {
		if p.count == maxExcerpt {
			p.full = true
			return
		}
		p.text.WriteRune(c)
		p.count++
	}
}

// plain makes one line of a text: a control character in it, a line break too, becomes a space. Of a long text it takes
// more than fits into an excerpt, and not all.
func plain(text string) string {
	var out strings.Builder
	for _, c := range text {
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' {
			c = ' '
		}
		out.WriteRune(c)
		if out.Len() > maxExcerpt*utf8.UTFMax {
			break
		}
	}
	return out.String()
}
