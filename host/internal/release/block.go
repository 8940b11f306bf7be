package release

import "strings"

// block is a part of a text by its place: whole, or prose whose sentences are still to be found.
type block struct {
	from, to int
	whole    bool
}

// blocks cuts a text at its lines. Lines of one paragraph stay together.
func blocks(text string) []block {
	var out []block
	fence, goesOn := "", false // the mark of open code; whether the next plain line belongs to the last block
	at := 0
	for line := range strings.Lines(text) {
		from := at
		at += len(line)
		mark := fenceOf(line)
		switch {
		case fence != "":
			out[len(out)-1].to = at
			if closes(mark, fence, line) {
				fence = ""
			}
		case mark != "":
			out, fence, goesOn = append(out, block{from, at, true}), mark, false
		case strings.TrimSpace(line) == "":
			out, goesOn = append(out, block{from, at, true}), false
		case alone(line):
			out, goesOn = append(out, block{from, at, true}), false
		case goesOn && !item(line):
			out[len(out)-1].to = at
		default:
			out, goesOn = append(out, block{from, at, false}), true
		}
	}
	return out
}

// fenceOf is the run of marks that opens or closes a block of code; empty when the line does neither.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, mark := range []string{"`", "~"} {
		if run := len(line) - len(strings.TrimLeft(line, mark)); run >= 3 {
			return line[:run]
		}
	}
	return ""
}

// closes reports whether a line ends a block of code.
func closes(mark, fence, line string) bool {
	return strings.HasPrefix(mark, fence) && strings.TrimSpace(line) == mark
}

// alone reports whether a line is one piece: a heading, a row of a table, or set in.
func alone(line string) bool {
	return line[0] == '#' || line[0] == '|' || line[0] == '\t' || strings.HasPrefix(line, "    ")
}

// item reports whether a line begins an item of a list. Its text may be broken into lines.
func item(line string) bool {
	line = strings.TrimLeft(line, " ")
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if strings.HasPrefix(line, bullet) {
			return true
		}
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	rest := line[digits:]
	return digits > 0 && digits < 4 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}
