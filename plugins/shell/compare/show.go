package compare

import (
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// page is two files and how they differ.
type page struct {
	left, right string
	a, b        []string
	edits       []edit
}

func (d *differ) show(p page) {
	if d.context < 0 {
		d.normal(p)
		return
	}
	labels := append(d.o.Values("label"), d.o.Values("L")...)
	for i, name := range []string{p.left, p.right} {
		shown := name + "\t" + d.when(name)
		if i < len(labels) {
			shown = labels[i]
		}
		fmt.Fprintln(d.c.Out, []string{"---", "+++"}[i], shown)
	}
	for start := 0; start < len(p.edits); {
		end := start + 1
		for end < len(p.edits) && p.edits[end].fromA-p.edits[end-1].toA <= 2*d.context {
			end++
		}
		d.hunk(p, p.edits[start:end])
		start = end
	}
}

func (d *differ) when(name string) string {
	info, err := d.c.Disk.Stat(d.c.Path(name))
	if err != nil {
		return "1970-01-01 00:00:00.000000000 +0000"
	}
	return info.ModTime().UTC().Format("2006-01-02 15:04:05.000000000 -0700")
}

// hunk writes edits that stand close together in unified form.
func (d *differ) hunk(p page, edits []edit) {
	first, last := edits[0], edits[len(edits)-1]
	fromA, fromB := max(0, first.fromA-d.context), max(0, first.fromB-d.context)
	toA, toB := min(len(p.a), last.toA+d.context), min(len(p.b), last.toB+d.context)
	fmt.Fprintf(d.c.Out, "@@ -%s +%s @@\n", span(fromA, toA), span(fromB, toB))
	at := fromA
	for _, e := range edits {
		d.lines(" ", p.a[at:e.fromA])
		d.lines("-", p.a[e.fromA:e.toA])
		d.lines("+", p.b[e.fromB:e.toB])
		at = e.toA
	}
	d.lines(" ", p.a[at:toA])
}

func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func (d *differ) lines(mark string, lines []string) {
	for _, line := range lines {
		text, ended := strings.CutSuffix(line, "\n")
		fmt.Fprintln(d.c.Out, mark+text)
		if !ended {
			fmt.Fprintln(d.c.Out, `\ No newline at end of file`)
		}
	}
}

// normal writes the edits in the form without options.
func (d *differ) normal(p page) {
	for _, e := range p.edits {
		letter, left, right := "c", numbers(e.fromA, e.toA), numbers(e.fromB, e.toB)
		switch {
		case e.fromA == e.toA:
			letter, left = "a", fmt.Sprint(e.fromA)
		case e.fromB == e.toB:
			letter, right = "d", fmt.Sprint(e.fromB)
		}
		if d.c.Print(left+letter+right, '\n') == command.ErrStop {
			return
		}
		d.lines("< ", p.a[e.fromA:e.toA])
		if letter == "c" {
			fmt.Fprintln(d.c.Out, "---")
		}
		d.lines("> ", p.b[e.fromB:e.toB])
	}
}

func numbers(from, to int) string {
	if to-from == 1 {
		return fmt.Sprint(to)
	}
	return fmt.Sprintf("%d,%d", from+1, to)
}
