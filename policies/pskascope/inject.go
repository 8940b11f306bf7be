package pskascope

import (
	"encoding/json"
	"slices"

	"github.com/fastreact/fastreact/sdk"
)

// The argument keys that bound what the knowledge system reads. The plural ones hold lists.
const (
	keyBases   = "knowledge_base_ids"
	keyBase    = "knowledge_base_id"
	keySources = "source_item_ids"
	keySource  = "source_item_id"
	keyRefs    = "source_refs"
	keyRef     = "source_ref"
	keyMode    = "scope_mode"
	keyScope   = "scope"
	keyInner   = "mode" // the mode inside scope
)

// injection is one call's arguments on their way into the scope.
type injection struct {
	scope  sdk.Scope
	asked  object
	inner  object // asked.scope when it is an object
	outer  schema
	nested schema // of the property scope

	sources    []string // what is left of the scope's sources; nil when not bounded
	narrowed   []string
	unverified []string
	empty      bool
}

func newInjection(asked object, request sdk.InjectRequest) *injection {
	in := &injection{scope: request.Scope, asked: asked, outer: readSchema(request.Schema)}
	if in.scope.Mode != sdk.Soft {
		in.scope.Mode = sdk.Hard
	}
	in.nested = readSchema(in.outer.properties[keyScope])
	if raw, given := asked.get(keyScope); given {
		if inner, err := readObject(raw); err == nil {
			in.inner = inner
		}
	}
	return in
}

// answer computes the bounded arguments.
func (in *injection) answer() sdk.Injection {
	in.narrowSources()
	in.narrowBases("", in.asked)
	in.narrowBases("scope.", in.inner)
	args := in.rest("", in.asked, keyMode)
	placed := in.place("", &args, in.asked, in.outer, keyMode)
	if in.wantsScope(placed) {
		inner := in.rest("scope.", in.inner, keyInner, keyMode)
		placedInside := in.place("scope.", &inner, in.inner, in.nested, keyInner)
		if _, given := in.inner.get(keyMode); given && in.nested.takes(keyMode) {
			inner.set(keyMode, encode(string(in.scope.Mode)))
		}
		args.set(keyScope, inner.encode())
		placed = placed || placedInside
	}
	slices.Sort(in.narrowed)
	return sdk.Injection{
		Args: args.encode(), Applied: placed, Empty: in.empty,
		Narrowed: slices.Compact(append([]string{}, in.narrowed...)), Unverified: in.unverified,
	}
}

// wantsScope reports whether an object scope is sent: where the model wrote one, whatever it wrote there, and where
// the schema leaves no other place for the bounds.
func (in *injection) wantsScope(placed bool) bool {
	raw, given := in.asked.get(keyScope)
	if given && in.inner == nil && string(raw) != "null" && string(raw) != "{}" {
		in.note("", keyScope)
	}
	return given && in.outer.takes(keyScope) || !placed && in.outer.declares(keyScope)
}

// rest keeps what is not about scope. A key that is a scope key only in another case is dropped: a lenient server
// would read it. Of doubled keys the last one stays.
func (in *injection) rest(prefix string, from object, modes ...string) object {
	var kept object
	at := map[string]int{}
	ours := append([]string{keyBases, keyBase, keySources, keySource, keyRefs, keyRef, keyScope}, modes...)
	for _, m := range from {
		if !among(m.key, ours...) {
			in.noteUnverified(prefix, m)
			if i, doubled := at[m.key]; doubled {
				kept[i] = m
				continue
			}
			at[m.key] = len(kept)
			kept = append(kept, m)
			continue
		}
		if !slices.Contains(ours, m.key) {
			in.note(prefix, canonical(m.key, ours))
		}
		if slices.Contains(modes, m.key) && !sameText(m.raw, string(in.scope.Mode)) && string(m.raw) != "null" {
			in.note(prefix, m.key)
		}
	}
	return kept
}

func canonical(key string, names []string) string {
	for _, name := range names {
		if among(key, name) {
			return name
		}
	}
	return key
}

func sameText(raw json.RawMessage, want string) bool {
	text, isText := readText(raw)
	return isText && text == want
}

// noteUnverified lists ids that cannot be checked against a scope.
func (in *injection) noteUnverified(prefix string, m member) {
	if string(m.raw) != "null" && !slices.Contains(in.unverified, prefix+m.key) && among(m.key, "document_ids", "document_id", "chunk_ids", "chunk_id", "entity_ids", "entity_id", "job_id", "job_ids") {
		in.unverified = append(in.unverified, prefix+m.key)
	}
}

// note records that the model asked for more.
func (in *injection) note(prefix, key string) { in.narrowed = append(in.narrowed, prefix+key) }

// place writes the bounds, and the model's own wishes as far as they lie inside, into target. It reports whether
// every bounded dimension found a place.
func (in *injection) place(prefix string, target *object, asked object, s schema, mode string) bool {
	placed := true
	if in.scope.KnowledgeBaseIDs != nil {
		placed = s.takes(keyBases)
		if placed {
			target.set(keyBases, encodeTexts(in.scope.KnowledgeBaseIDs))
		}
	} else {
		in.pass(target, asked, s, keyBases, keyBase)
	}
	if in.scope.SourceItemIDs != nil {
		placed = placed && s.takes(keySources)
		if s.takes(keySources) {
			target.set(keySources, encodeTexts(in.sources))
		}
	} else {
		in.pass(target, asked, s, keySources, keySource, keyRef)
	}
	in.placeSingles(target, asked, s)
	in.placeRefs(prefix, target, asked, s)
	if s.takes(mode) {
		target.set(mode, encode(string(in.scope.Mode)))
	}
	return placed
}

// pass hands on the wishes in a dimension that the scope does not bound.
func (in *injection) pass(target *object, asked object, s schema, keys ...string) {
	for _, key := range keys {
		if raw, given := asked.get(key); given && s.takes(key) {
			target.set(key, raw)
		}
	}
}
