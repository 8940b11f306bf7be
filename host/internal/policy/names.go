package policy

import (
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// keyCited names a source in citations only: elsewhere it is the start of a graph's edge.
const keyCited = "source_id"

// naming finds what a value names: sources and knowledge bases, inside a scope or not.
type naming struct {
	scope sdk.Scope
	cited bool // keyCited names a source here
}

// bound returns the ids that a key may name, nil when the scope does not bound them. isName is false for keys that
// name no source or knowledge base.
func (n naming) bound(key string) (bound []string, isName bool) {
	switch {
	case foldedIn([]string{keySource1, keyRef1, keySources, keyRefs}, key), n.cited && strings.EqualFold(key, keyCited):
		return n.scope.SourceItemIDs, true
	case isKnowledgeKey(key):
		return n.scope.KnowledgeBaseIDs, true
	}
	return nil, false
}

func isKnowledgeKey(key string) bool { return foldedIn([]string{keyKnowledge1, keyKnowledge}, key) }

// within is naming for a member of that key.
func (n naming) within(key string) naming {
	n.cited = n.cited || foldedIn([]string{"citation", "citations"}, key)
	return n
}

// in walks a whole value and reports whether it names a source inside the scope, and whether it names any source or
// knowledge base outside.
func (n naming) in(value any) (source, foreign bool) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			s, f := n.in(element)
			source, foreign = source || s, foreign || f
		}
	case map[string]any:
		for key, member := range v {
			s, f := n.under(key, member)
			source, foreign = source || s, foreign || f
		}
	}
	return source, foreign
}

// under is in for one member of an object: under a naming key plain values are ids.
func (n naming) under(key string, member any) (source, foreign bool) {
	if bound, isName := n.bound(key); isName && bound != nil {
		var inside bool
		inside, foreign = plain(member, bound)
		source = inside && !isKnowledgeKey(key)
	}
	s, f := n.within(key).in(member)
	return source || s, foreign || f
}

// plain reports whether plain values, alone or in lists, lie inside or outside a bound. Blanks and objects do neither.
func plain(member any, bound []string) (inside, outside bool) {
	switch v := member.(type) {
	case nil, map[string]any:
		return false, false
	case []any:
		for _, element := range v {
			in, out := plain(element, bound)
			inside, outside = inside || in, outside || out
		}
		return inside, outside
	case string:
		found := slices.Contains(bound, v)
		return found, !found && strings.TrimSpace(v) != ""
	}
	return false, true
}
