package pskascope

import (
	"encoding/json"
	"slices"
	"strings"
)

// wish is what the model wrote under one key: ids inside the bound, in order and once each, and whether it asked for
// anything else.
type wish struct {
	inside []string
	more   bool
}

// asks reports whether there is a wish at all. Blanks and nulls ask for nothing.
func (w wish) asks() bool { return w.more || len(w.inside) > 0 }

// readWish reads a list of ids, or one id. Whatever is neither text nor blank counts as asking for more: a lenient
// server might read it as an id.
func readWish(raw json.RawMessage, bound []string) wish {
	var w wish
	for _, entry := range readList(raw) {
		text, isText := readText(entry)
		id := strings.TrimSpace(text)
		switch {
		case string(entry) == "null" || isText && id == "":
		case !isText || !slices.Contains(bound, id):
			w.more = true
		case !slices.Contains(w.inside, id):
			w.inside = append(w.inside, id)
		}
	}
	return w
}

// narrowSources cuts the scope's sources down to those the model asked for, in the order it did. When nothing is
// left, the call is empty and the scope's own list stands in: an empty list would be read as no bound at all.
func (in *injection) narrowSources() {
	bound := in.scope.SourceItemIDs
	if bound == nil {
		return
	}
	in.sources = bound
	in.narrowSourcesBy("", in.asked)
	in.narrowSourcesBy("scope.", in.inner)
	if len(in.sources) == 0 {
		in.empty = true
		in.sources = bound
	}
}

func (in *injection) narrowSourcesBy(prefix string, asked object) {
	for _, key := range []string{keySources, keySource, keyRef} {
		for _, raw := range asked.all(key) {
			w := readWish(raw, in.scope.SourceItemIDs)
			if w.more {
				in.note(prefix, key)
			}
			if w.asks() {
				in.sources = common(w.inside, in.sources)
			}
		}
	}
}

// common keeps of the first list what is in the second.
func common(first, second []string) []string {
	kept := []string{}
	for _, id := range first {
		if slices.Contains(second, id) {
			kept = append(kept, id)
		}
	}
	return kept
}

// narrowBases notes wishes for other knowledge bases. A single one that lies outside cannot be replaced by one of
// several: then nothing of the wish is left.
func (in *injection) narrowBases(prefix string, asked object) {
	bound := in.scope.KnowledgeBaseIDs
	if bound == nil {
		return
	}
	for _, key := range []string{keyBases, keyBase} {
		for _, raw := range asked.all(key) {
			w := readWish(raw, bound)
			if w.more {
				in.note(prefix, key)
			}
			if key == keyBase && w.more && len(w.inside) == 0 && len(bound) > 1 {
				in.empty = true
			}
		}
	}
}

// placeSingles writes the singular keys the model used, as far as they lie inside.
func (in *injection) placeSingles(target *object, asked object, s schema) {
	if bound := in.scope.KnowledgeBaseIDs; bound != nil {
		if raw, given := asked.get(keyBase); given && s.takes(keyBase) {
			w := readWish(raw, bound)
			switch {
			case len(w.inside) == 1:
				target.set(keyBase, encode(w.inside[0]))
			case w.asks() && len(bound) == 1:
				target.set(keyBase, encode(bound[0]))
			}
		}
	}
	if in.scope.SourceItemIDs == nil {
		return
	}
	for _, key := range []string{keySource, keyRef} {
		raw, given := asked.get(key)
		if !given || !s.takes(key) {
			continue
		}
		if w := readWish(raw, in.sources); len(w.inside) == 1 {
			target.set(key, encode(w.inside[0]))
		}
	}
}

// placeRefs writes the references that lie inside. When the model gave some and none does, the call is empty.
func (in *injection) placeRefs(prefix string, target *object, asked object, s schema) {
	raw, given := asked.get(keyRefs)
	if !given {
		return
	}
	kept, dropped := []json.RawMessage{}, 0
	for _, entry := range readList(raw) {
		text, isText := readText(entry)
		switch {
		case string(entry) == "null" || isText && strings.TrimSpace(text) == "":
		case in.refInside(entry):
			kept = append(kept, entry)
		default:
			dropped++
		}
	}
	if dropped > 0 {
		in.note(prefix, keyRefs)
		in.empty = in.empty || len(kept) == 0
	}
	if len(kept) > 0 && s.takes(keyRefs) {
		target.set(keyRefs, encodeList(kept))
		if in.scope.SourceItemIDs == nil && in.scope.KnowledgeBaseIDs != nil {
			in.unverified = append(in.unverified, prefix+keyRefs)
		}
	}
}

// refInside reports whether a reference names a source inside the scope and nothing else. Where sources are not
// bounded it only must not name another knowledge base.
func (in *injection) refInside(entry json.RawMessage) bool {
	sources := in.scope.SourceItemIDs
	if text, isText := readText(entry); isText {
		return sources == nil || slices.Contains(sources, text)
	}
	ref, err := readObject(entry)
	if err != nil {
		return false
	}
	named := false
	for _, m := range ref {
		if bound, names := boundOf(in.scope, m.key); names && bound != nil {
			w := readWish(m.raw, bound)
			if w.more || !exactly(m.key) {
				return false
			}
			named = named || w.asks() && !among(m.key, keyBase, keyBases)
		}
	}
	return sources == nil || named
}

// exactly reports whether a naming key is written as the knowledge system writes it.
func exactly(key string) bool {
	return slices.Contains([]string{keySource, keySources, keyRef, keyRefs, keyBase, keyBases, "source_id", "source_ids"}, key)
}
