package workbench

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// limits compares what the manifests ask for. A limit that is left out is the host's default, which nobody here knows:
// to leave one out widens, and to name one narrows as long as it is no more than the usual default.
func (d *diff) limits(before, after wasm.Inspection) {
	old, now, usual := limitsOf(before.Limits), limitsOf(after.Limits), limitsOf(wasm.Defaults(after.Kind))
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		c := Change{Widens, "limit", "limits." + name, showLimit(name, old[name]), showLimit(name, now[name]), "it asks for more"}
		switch {
		case old[name] == now[name]:
			continue
		case now[name] == 0:
			c.Why = "the host's default holds instead, which may be more"
		case old[name] == 0 && now[name] <= usual[name]:
			c.Effect, c.Why = Narrows, "it asks for no more than the usual default"
		case old[name] == 0:
			c.Why = "it asks for more than the usual default"
		case now[name] < old[name]:
			c.Effect, c.Why = Narrows, "it asks for less"
		}
		d.add(c)
	}
}

// limitsOf lists limits by their names in the manifest; a wall time is in nanoseconds.
func limitsOf(l sdk.Limits) map[string]int64 {
	named := map[string]int64{}
	fields := reflect.ValueOf(l)
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
		switch field := fields.Field(i); {
		case field.CanInt():
			named[name] = field.Int()
		case field.CanUint():
			named[name] = int64(field.Uint())
		}
	}
	return named
}

func showLimit(name string, value int64) string {
	switch {
	case value == 0:
		return "the host's default"
	case name == "wall":
		return time.Duration(value).String()
	case name == "memory_pages":
		return number(value) + " pages of 64 KiB"
	case strings.HasSuffix(name, "_bytes"):
		return number(value) + " bytes"
	}
	return number(value)
}
