package workbench

import (
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// match compares which calls a policy judges: what it no longer judges, it no longer refuses.
func (d *diff) match(before, after *sdk.Match, kind sdk.Kind) {
	if kind != sdk.KindPolicy {
		return
	}
	if after == nil {
		if before != nil {
			d.add(Change{Narrows, "match", "match.tools", strings.Join(before.Tools, ", "), "every tool", "it judges every call now"})
		}
		return
	}
	if before == nil {
		if !judgesAll(after) {
			d.add(Change{Widens, "match", "match.tools", "every tool", strings.Join(after.Tools, ", "), "it no longer judges every call"})
		}
		return
	}
	for _, glob := range added(after.Tools, before.Tools) {
		c := Change{Widens, "match", "match.tools", glob, "", "it no longer judges what this matches"}
		if covers(after, glob) {
			c.Effect, c.Why = Neutral, "another pattern still matches this"
		}
		d.add(c)
	}
	for _, glob := range added(before.Tools, after.Tools) {
		d.add(Change{Narrows, "match", "match.tools", "", glob, "it judges more calls"})
	}
}

func judgesAll(match *sdk.Match) bool {
	return slices.ContainsFunc(match.Tools, func(glob string) bool { return glob == "*" || glob == "**" })
}

// covers reports whether the globs certainly match whatever glob matches. A name without wildcards is simply tried;
// about patterns only the obvious is known.
func covers(match *sdk.Match, glob string) bool {
	if judgesAll(match) {
		return true
	}
	return !strings.ContainsAny(glob, `*?[]{}\!^`) && wasm.Matches(match, glob, glob)
}
