package investigation

import (
	"errors"
	"unicode/utf8"

	"github.com/fastreact/fastreact/sdk/wire"
)

var (
	errTooDeep = errors.New("lists and objects are nested too deep")
	errDoubled = errors.New("a name stands twice in one object")
)

// checkText refuses a text that two readers could understand in two ways: what is not UTF-8, no JSON, nested without
// measure, or names a member twice.
func checkText(text []byte) error {
	if !utf8.Valid(text) {
		return snapshotInvalid
	}
	r := wire.NewReader(text)
	checkValue(r, maxDepth)
	if r.End() != nil {
		return snapshotInvalid
	}
	return nil
}

// checkValue reads one value with at most depth levels of lists and objects.
func checkValue(r *wire.Reader, depth int) {
	kind := r.Kind()
	if kind != wire.Object && kind != wire.List {
		r.Skip()
		return
	}
	if depth == 0 {
		r.Fail(errTooDeep)
		return
	}
	if kind == wire.List {
		for range r.Elements() {
			checkValue(r, depth-1)
		}
		return
	}
	seen := map[string]bool{}
	for name := range r.Members() {
		if seen[string(name)] {
			r.Fail(errDoubled)
		}
		seen[string(name)] = true
		checkValue(r, depth-1)
	}
}

// eachText visits the texts, numbers and truths of a value in their order, each with the names that lead to it, joined
// by dots, until visit returns false.
func eachText(value []byte, visit func(path, text string) bool) {
	w := walk{reader: wire.NewReader(value), visit: visit}
	w.value("")
}

type walk struct {
	reader *wire.Reader
	visit  func(path, text string) bool
	ended  bool // visit has seen enough; what is left is skipped
}

func (w *walk) value(path string) {
	r := w.reader
	if w.ended {
		r.Skip()
		return
	}
	switch r.Kind() {
	case wire.Object:
		for name := range r.Members() {
			w.value(below(path, string(name)))
		}
	case wire.List:
		for range r.Elements() {
			w.value(path)
		}
	case wire.Text:
		w.ended = !w.visit(path, r.Text())
	case wire.Null:
		r.Skip()
	default:
		w.ended = !w.visit(path, string(r.Raw()))
	}
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
