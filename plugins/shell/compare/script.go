package compare

import (
	"errors"
	"slices"
	"strings"
)

// edit replaces lines of the left file by lines of the right one. Ends are exclusive, counted from 0.
type edit struct{ fromA, toA, fromB, toB int }

// maxWork bounds the comparison: files that differ more are only said to differ.
const maxWork = 20_000_000

var errTooDifferent = errors.New("the files differ too much to be compared line by line")

func sortStrings(list []string) { slices.Sort(list) }

// script returns the fewest edits that turn a into b.
func script(a, b []string) ([]edit, error) {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	trace, err := forward(a[start:endA], b[start:endB])
	if err != nil {
		return nil, err
	}
	var edits []edit
	x, y := endA-start, endB-start
	for d := len(trace) - 1; d > 0; d-- {
		step := back(trace[d-1], d, x-y)
		x, y = step.fromA, step.fromB
		edits = append(edits, edit{step.fromA + start, step.toA + start, step.fromB + start, step.toB + start})
	}
	slices.Reverse(edits)
	return merged(edits), nil
}

// forward finds how far each number of edits reaches on every diagonal, after Myers.
func forward(a, b []string) ([][]int, error) {
	n, m := len(a), len(b)
	offset := n + m + 1
	reach := make([]int, 2*offset+1)
	var trace [][]int
	for d, work := 0, 0; d <= n+m; d++ {
		if work += 2*d + 1; work > maxWork {
			return nil, errTooDifferent
		}
		for k := -d; k <= d; k += 2 {
			x := 0
			if k == -d || k != d && reach[offset+k-1] < reach[offset+k+1] {
				x = reach[offset+k+1]
			} else {
				x = reach[offset+k-1] + 1
			}
			for x < n && x-k < m && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			reach[offset+k] = x
			if x >= n && x-k >= m {
				return append(trace, nil), nil
			}
		}
		trace = append(trace, append([]int{d}, reach[offset-d-1:offset+d+2]...))
	}
	return trace, nil
}

// back returns the edit that led to diagonal k with d edits.
func back(before []int, d, k int) edit {
	at := func(k int) int { return before[1+k+before[0]+1] }
	if k == -d || k != d && at(k-1) < at(k+1) {
		x := at(k + 1)
		y := x - k - 1
		return edit{x, x, y, y + 1}
	}
	x := at(k - 1)
	y := x - k + 1
	return edit{x, x + 1, y, y}
}

// merged joins edits that touch.
func merged(edits []edit) []edit {
	var all []edit
	for _, e := range edits {
		if last := len(all) - 1; last >= 0 && all[last].toA == e.fromA && all[last].toB == e.fromB {
			all[last].toA, all[last].toB = e.toA, e.toB
			continue
		}
		all = append(all, e)
	}
	return all
}

// withoutBlank leaves out edits that only concern empty lines.
func withoutBlank(edits []edit, a, b []string) []edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e edit) bool {
		return strings.TrimSpace(strings.Join(a[e.fromA:e.toA], "")+strings.Join(b[e.fromB:e.toB], "")) == ""
	})
}
