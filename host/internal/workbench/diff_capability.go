package workbench

import (
	"maps"
	"slices"

	"github.com/fastreact/fastreact/sdk"
)

// capabilities compares what the manifests request.
func (d *diff) capabilities(before, after sdk.Capabilities) {
	d.files(filesAt(before.Files), filesAt(after.Files))
	d.amount("capabilities.progress.bytes", progressBytes(before.Progress), progressBytes(after.Progress))
}

func filesAt(list []sdk.FileAccess) map[string]sdk.FileMode {
	modes := map[string]sdk.FileMode{}
	for _, file := range list {
		modes[file.At] = file.Mode
	}
	return modes
}

func (d *diff) files(before, after map[string]sdk.FileMode) {
	for _, at := range union(before, after) {
		old, had := before[at]
		now, has := after[at]
		c := Change{Widens, "path", "capabilities.files at " + at, string(old), string(now), "it asks for files that it did not see"}
		switch {
		case old == now:
			continue
		case !has:
			c.Effect, c.Why = Narrows, "it no longer asks for these files"
		case had && now == sdk.ReadOnly:
			c.Effect, c.Why = Narrows, "it only reads now"
		case had:
			c.Why = "it asks to write what it only read"
		}
		d.add(c)
	}
}

func progressBytes(p *sdk.ProgressAccess) int64 {
	if p == nil {
		return 0
	}
	return int64(p.Bytes)
}

// amount compares a capability that is a number of bytes; 0 is none.
func (d *diff) amount(where string, before, after int64) {
	if c, changed := bound("capability", where, before, after, number); changed {
		d.add(c)
	}
}

// union lists the keys of both maps in order.
func union[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
