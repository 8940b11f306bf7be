package workbench

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// Sizes of hostile inputs.
const (
	hugeText  = 4 << 20
	deepNests = 100_000
)

// hostileCalls lists the calls that a plugin must survive, made from one that is good.
func hostileCalls(good *Case, limits sdk.Limits) []hostileCall {
	var all []hostileCall
	add := func(name, about string, input []byte) {
		all = append(all, hostileCall{name: name, about: about, op: good.Op, input: input, limits: limits})
	}
	add("nothing", "no input at all", nil)
	add("no-json", "text that is no JSON", []byte("hello\x00"))
	add("cut", "the first half of a good input", good.Input[:len(good.Input)/2])
	add("trailing", "bytes behind a good input", append(slices.Clone(good.Input), " {}"...))
	add("null", "JSON null", []byte("null"))
	add("empty-object", "an object without fields", []byte("{}"))
	add("invalid-utf8", "text that is no UTF-8", bytes.Replace(good.Input, []byte(`":"`), []byte("\":\"\xff\xfe\xc0\x80"), 1))
	add("deep", "arrays in arrays", []byte(strings.Repeat("[", deepNests)))
	add("huge", "a text of 4 MiB", []byte(`{"tool":"`+strings.Repeat("a", hugeText)+`"}`))
	add("huge-number", "a number of many digits", []byte(`{"tool":1e`+strings.Repeat("9", 1000)+`}`))
	for _, kind := range []struct{ name, value string }{{"text", `"x"`}, {"number", "-1"}, {"list", "[[]]"}, {"object", `{"":null}`}, {"null", "null"}} {
		add("every-field-a-"+kind.name, "fields of another type", withFields(good.Input, kind.value))
	}
	all = append(all, hostileCall{
		name: "operation-99", about: "an operation that does not exist", op: 99, input: good.Input, limits: limits,
	})
	for _, patience := range []time.Duration{time.Nanosecond, 100 * time.Microsecond, 5 * time.Millisecond} {
		all = append(all, hostileCall{
			name: "deadline-" + patience.String(), about: "a caller without patience", op: good.Op, input: good.Input,
			limits: limits, deadline: patience,
		})
	}
	return append(all, cramped(good, limits)...)
}

// withFields gives every field of an object the same value.
func withFields(input []byte, value string) []byte {
	fields, err := decodeAny(input)
	object, isObject := fields.(map[string]any)
	if err != nil || !isObject {
		return []byte(value)
	}
	other, err := decodeAny([]byte(value))
	if err != nil {
		return []byte(value)
	}
	for _, name := range slices.Collect(maps.Keys(object)) {
		object[name] = other
	}
	return asJSON(object)
}

// cramped lists good calls with next to no room.
func cramped(good *Case, limits sdk.Limits) []hostileCall {
	var all []hostileCall
	add := func(name, about string, narrow func(*sdk.Limits)) {
		narrowed := limits
		narrow(&narrowed)
		all = append(all, hostileCall{name: name, about: about, op: good.Op, input: good.Input, limits: narrowed})
	}
	add("least-wall", "a wall limit of a millisecond", func(l *sdk.Limits) { l.Wall = sdk.Duration(time.Millisecond) })
	add("least-memory", "a single page of memory", func(l *sdk.Limits) { l.MemoryPages = 1 })
	add("least-output", "an answer of a single byte", func(l *sdk.Limits) { l.OutputBytes = 1 })
	add("least-log", "a single byte of log", func(l *sdk.Limits) { l.LogBytes = 1 })
	return all
}
