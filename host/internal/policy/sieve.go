package policy

import (
	"encoding/json"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// sieve takes foreign entries out of a decoded result, in place. An entry is an element of a list, or an inner object
// that names a source itself; when one of its references or inner objects is foreign, so is the whole entry. Any
// other list inside it is sieved for itself.
type sieve struct{ removed int }

// place says where an object stands in a result.
type place int

const (
	outermost place = iota
	member
	element
)

// result sieves a whole result. One that is foreign as a whole leaves an empty result.
func (s *sieve) result(n naming, value any) any {
	switch v := value.(type) {
	case map[string]any:
		if s.object(n, v, outermost) {
			s.removed = 1
			return map[string]any{"results": []any{}, "citations": []any{}}
		}
	case []any:
		return s.list(n, "", v)
	case string:
		return s.text(n, v)
	}
	return value
}

// object sieves one object and reports whether it is foreign as a whole.
func (s *sieve) object(n naming, object map[string]any, at place) (foreign bool) {
	isEntry := at == element || at == member && namesItself(n, object)
	for _, key := range sortedKeys(object) {
		switch v := object[key].(type) {
		case map[string]any:
			if !s.object(n.within(key), v, member) {
				continue
			}
			if at != outermost {
				return true
			}
			delete(object, key)
			s.removed++
		case []any:
			if isEntry && restsOutside(n, key, v) {
				return true
			}
			object[key] = s.list(n, key, v)
		case string:
			if foreignName(n, key, v) {
				return true
			}
			object[key] = s.text(n, v)
		default:
			if foreignName(n, key, v) {
				return true
			}
		}
	}
	return false
}

// list sieves the list that stands under key.
func (s *sieve) list(n naming, key string, list []any) []any {
	inner, kept := n.within(key), make([]any, 0, len(list))
	for _, value := range list {
		before := s.removed
		if s.foreign(n, key, value) {
			s.removed = before + 1
			continue
		}
		switch v := value.(type) {
		case []any:
			value = s.list(n, key, v)
		case string:
			value = s.text(inner, v)
		}
		kept = append(kept, value)
	}
	return kept
}

// foreign sieves one element of the list under key and reports whether it must go.
func (s *sieve) foreign(n naming, key string, value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return s.object(n.within(key), v, element)
	case []any:
		return false
	}
	return foreignName(n, key, value)
}

// text sieves text that is itself JSON, as servers send that wrap their answer once more.
func (s *sieve) text(n naming, text string) string {
	if !looksWrapped(text) {
		return text
	}
	value, err := run.Decode(json.RawMessage(text))
	if err != nil {
		return text
	}
	inner := &sieve{}
	value = inner.result(n, value)
	if inner.removed == 0 {
		return text
	}
	s.removed += inner.removed
	return string(mustEncode(value))
}

func looksWrapped(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")
}

func wrapsJSON(text string) bool { return looksWrapped(text) && json.Valid([]byte(text)) }

// foreignName reports whether a plain value under key names something outside the scope.
func foreignName(n naming, key string, value any) bool {
	bound, isName := n.bound(key)
	if !isName || bound == nil {
		return false
	}
	_, outside := plain(value, bound)
	return outside
}

// restsOutside reports whether a list of references under key, which says what the entry around it rests on, names
// anything outside the scope.
func restsOutside(n naming, key string, list []any) bool {
	_, isName := n.bound(key)
	if !isName && !foldedIn([]string{"citation", "citations", "sources"}, key) {
		return false
	}
	_, foreign := n.under(key, list)
	return foreign
}

// namesItself reports whether an object has a name of its own.
func namesItself(n naming, object map[string]any) bool {
	for key, value := range object {
		if text, isText := value.(string); isText && text != "" {
			if _, isName := n.bound(key); isName {
				return true
			}
		}
	}
	return false
}
