package workbench

import (
	"encoding/json"
	"math/big"
)

// subset compares sets of values that are accepted; nil accepts everything.
func (s *schemaDiff) subset(path string, was, is map[string]bool, old, now any) {
	if is != nil && (was == nil || containsAll(was, is)) {
		s.add(Narrows, path, old, now, "it accepts less")
		return
	}
	s.add(Widens, path, old, now, "it accepts more")
}

// superset compares sets of demands; nil demands nothing.
func (s *schemaDiff) superset(path string, was, is map[string]bool, old, now any) {
	if containsAll(is, was) {
		s.add(Narrows, path, old, now, "it demands more")
		return
	}
	s.add(Widens, path, old, now, "it demands less")
}

// amount compares a bound. With sign 1 a larger one is narrower, with -1 a smaller one.
func (s *schemaDiff) amount(path string, old, now any, sign int) {
	before, hadNumber := asNumber(old)
	after, hasNumber := asNumber(now)
	switch {
	case hasNumber && (old == nil || hadNumber && after.Cmp(before) == sign):
		s.add(Narrows, path, old, now, "the bound is tighter")
	case hasNumber && hadNumber:
		s.add(Widens, path, old, now, "the bound is looser")
	default:
		s.add(Widens, path, old, now, "the bound is gone")
	}
}

// demand compares a keyword that is only known to narrow when it is new.
func (s *schemaDiff) demand(path string, old, now any) {
	switch {
	case old == nil:
		s.add(Narrows, path, old, now, "it demands more")
	case now == nil:
		s.add(Widens, path, old, now, "it demands less")
	default:
		s.add(Widens, path, old, now, "whether it accepts more cannot be told: look at it")
	}
}

func containsAll(all, some map[string]bool) bool {
	for name := range some {
		if !all[name] {
			return false
		}
	}
	return true
}

// same compares JSON values by what they mean.
func same(a, b any) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	c := &comparison{exact: true}
	c.value("", a, b)
	return len(c.lines) == 0
}

func asNumber(value any) (*big.Float, bool) {
	text, ok := value.(json.Number)
	if !ok {
		return nil, false
	}
	number, _, err := big.ParseFloat(text.String(), 10, 256, big.ToNearestEven)
	return number, err == nil
}

// valueSet is the set of a list's values; nil when there is no list.
func valueSet(value any) map[string]bool {
	list, ok := value.([]any)
	if !ok {
		return nil
	}
	set := map[string]bool{}
	for _, one := range list {
		set[string(asJSON(one))] = true
	}
	return set
}

// typeSet is the set of types that a keyword accepts; an integer is a number.
func typeSet(value any) map[string]bool {
	if text, ok := value.(string); ok {
		value = []any{text}
	}
	set := valueSet(value)
	if set[`"number"`] {
		set[`"integer"`] = true
	}
	return set
}
