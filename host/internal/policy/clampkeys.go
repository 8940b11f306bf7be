package policy

import (
	"slices"
	"strings"
)

// narrow computes the effective ids of both dimensions from everything the model asked for.
func (c *clamp) narrow() {
	if c.scope.SourceItemIDs != nil {
		c.sources = c.scope.SourceItemIDs
		for _, place := range []map[string]any{c.asked, c.askedScope} {
			for _, key := range []string{keySources, keySource1, keyRef1} {
				c.narrowSources(key, place[key])
			}
		}
		if len(c.sources) == 0 {
			c.sources = []string{}
			c.outcome.Empty = true
		}
	}
	if c.knowledge == nil {
		return
	}
	for _, place := range []map[string]any{c.asked, c.askedScope} {
		for _, key := range []string{keyKnowledge, keyKnowledge1} {
			ids, foreign := idsIn(place[key], c.knowledge)
			if foreign {
				c.outcome.Narrowed = append(c.outcome.Narrowed, key)
			}
			if key == keyKnowledge1 && foreign && len(ids) == 0 && len(c.knowledge) > 1 {
				c.outcome.Empty = true // one was asked for, none of several may stand in for it
			}
		}
	}
}

// narrowSources keeps of the effective sources those that were asked for, in the order in which they were.
func (c *clamp) narrowSources(key string, wish any) {
	inside, foreign := idsIn(wish, c.scope.SourceItemIDs)
	if foreign {
		c.outcome.Narrowed = append(c.outcome.Narrowed, key)
	}
	if len(inside) == 0 && !foreign {
		return // nothing was asked for
	}
	effective := []string{}
	for _, id := range inside {
		if slices.Contains(c.sources, id) {
			effective = append(effective, id)
		}
	}
	c.sources = effective
}

// idsIn reads a wish for ids: those inside the bound, unique, in order; and whether anything else was asked for.
func idsIn(wish any, bound []string) (inside []string, foreign bool) {
	for _, entry := range givenEntries(wish) {
		text, isText := entry.(string)
		id := strings.TrimSpace(text)
		switch {
		case !isText || !slices.Contains(bound, id):
			foreign = true
		case !slices.Contains(inside, id):
			inside = append(inside, id)
		}
	}
	return inside, foreign
}

// place writes the bounds and what is left of the model's own wishes into target, as far as the schema takes them. It
// reports whether every bounded dimension found its place.
func (c *clamp) place(target, asked map[string]any, s shape, modeKey string) bool {
	whole := true
	put := func(key string, value any) {
		if s.takes(key) {
			target[key] = value
			return
		}
		whole = false
	}
	if c.knowledge != nil {
		put(keyKnowledge, anyList(c.knowledge))
	}
	if c.sources != nil {
		put(keySources, anyList(c.sources))
	}
	if s.takes(modeKey) {
		target[modeKey] = string(c.scope.Mode)
	}
	for _, key := range []string{keyKnowledge, keyKnowledge1, keySources, keySource1, keyRef1, keyRefs} {
		if wish, present := asked[key]; present && s.takes(key) {
			c.pass(target, key, wish)
		}
	}
	return whole
}

// pass writes one wish of the model as far as it lies inside the scope.
func (c *clamp) pass(target map[string]any, key string, wish any) {
	switch key {
	case keyKnowledge:
		c.passUnbounded(target, key, wish, c.knowledge)
	case keySources:
		c.passUnbounded(target, key, wish, c.scope.SourceItemIDs)
	case keyKnowledge1:
		if c.knowledge != nil {
			c.passKnowledge1(target, wish)
			return
		}
		c.passUnbounded(target, key, wish, nil)
	case keySource1, keyRef1:
		if c.sources == nil {
			c.passUnbounded(target, key, wish, nil)
			return
		}
		if inside, _ := idsIn(wish, c.sources); len(inside) == 1 {
			target[key] = inside[0]
		}
	case keyRefs:
		c.passRefs(target, wish)
	}
}

// passKnowledge1 writes a wish for a single knowledge base; where the scope has one only, that one.
func (c *clamp) passKnowledge1(target map[string]any, wish any) {
	inside, foreign := idsIn(wish, c.knowledge)
	switch {
	case len(inside) == 1:
		target[keyKnowledge1] = inside[0]
	case foreign && len(c.knowledge) == 1:
		target[keyKnowledge1] = c.knowledge[0]
	}
}

// passUnbounded writes a wish in a dimension that the scope does not bound, and lists it as not checked where the
// scope bounds something else.
func (c *clamp) passUnbounded(target map[string]any, key string, wish any, bound []string) {
	if bound != nil {
		return
	}
	target[key] = wish
	if c.bounds() {
		c.unverified(key)
	}
}

// passRefs drops every reference that names something outside, and every one that names nothing.
func (c *clamp) passRefs(target map[string]any, wish any) {
	entries := givenEntries(wish)
	kept := []any{}
	for _, entry := range entries {
		if c.refInside(entry) {
			kept = append(kept, entry)
		}
	}
	if len(kept) < len(entries) {
		c.outcome.Narrowed = append(c.outcome.Narrowed, keyRefs)
		c.outcome.Empty = c.outcome.Empty || len(kept) == 0
	}
	if len(kept) == 0 {
		return
	}
	target[keyRefs] = kept
	if c.bounds() && c.scope.SourceItemIDs == nil {
		c.unverified(keyRefs)
	}
}

func (c *clamp) refInside(entry any) bool {
	if id, isText := entry.(string); isText {
		return c.scope.SourceItemIDs == nil || slices.Contains(c.scope.SourceItemIDs, id)
	}
	named, foreign := naming{scope: c.scope, cited: true}.in(entry)
	return !foreign && (named || c.scope.SourceItemIDs == nil)
}

// givenEntries reads a list, or a single value as a list of one. Nulls and blanks ask for nothing.
func givenEntries(wish any) []any {
	entries, isList := wish.([]any)
	if !isList {
		entries = []any{wish}
	}
	given := []any{}
	for _, entry := range entries {
		text, isText := entry.(string)
		if entry != nil && !(isText && strings.TrimSpace(text) == "") {
			given = append(given, entry)
		}
	}
	return given
}

func (c *clamp) bounds() bool { return c.knowledge != nil || c.scope.SourceItemIDs != nil }

func (c *clamp) unverified(key string) {
	if !slices.Contains(c.outcome.Unverified, key) {
		c.outcome.Unverified = append(c.outcome.Unverified, key)
	}
}

func (c *clamp) listUnverified(prefix string, asked map[string]any) {
	if !c.bounds() {
		return
	}
	for _, key := range unverifiable {
		if value := asked[key]; value != nil {
			c.unverified(prefix + key)
		}
	}
}

func anyList(ids []string) []any {
	list := make([]any, len(ids))
	for i, id := range ids {
		list[i] = id
	}
	return list
}
