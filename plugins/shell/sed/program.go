package sed

import "regexp"

// Program is a parsed script.
type Program struct {
	steps  []step
	labels map[string]int
}

// step is one editing command. A block is a step that jumps over its body when it does not apply.
type step struct {
	from, to *address
	negated  bool
	verb     byte
	text     string // of a, i, c, r, w, b, t, T and :
	number   int    // of q and Q, and where a { ends
	change   *change
	swap     map[rune]rune // of y
	inside   *rangeState
}

// address says which lines a step is for.
type address struct {
	line    int // a line, or the start of first~step
	step    int
	last    bool
	pattern *regexp.Regexp // nil with useLast: the last one used
	useLast bool
	plus    bool // of a second address: line more lines
	upTo    bool // of a second address: to a multiple of line
	zero    bool // 0,/re/
}

// change is s///.
type change struct {
	pattern     *regexp.Regexp // nil: the last one used
	replacement []piece
	global      bool
	which       int
	print       bool
	file        string
}

// piece is a part of a replacement: text, a group, or a change of case.
type piece struct {
	text  string
	group int  // -1: text
	shift byte // U, L, u, l, E or 0
}

// rangeState remembers whether a two-address step is inside its range.
type rangeState struct {
	active bool
	end    int // line where it ends, when that is known
}
