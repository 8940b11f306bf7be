package pskascope

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// maxDepth bounds how deep a result is looked into. What lies deeper is taken for foreign.
const maxDepth = 64

// sieve drops entries of a result that name something outside the scope.
type sieve struct {
	scope   sdk.Scope
	removed int
}

// position says where a value stands: how deep, and whether inside an entry.
type position struct {
	depth int
	entry bool
}

// value sieves the value under key. Foreign means that whatever the value describes must go.
func (s *sieve) value(key string, raw json.RawMessage, at position) (kept json.RawMessage, foreign bool) {
	if at.depth > maxDepth {
		return nil, true
	}
	switch first(raw) {
	case '{':
		return s.object(raw, at)
	case '[':
		return s.list(key, raw, at)
	}
	if s.foreignName(key, raw) {
		return nil, true
	}
	return s.text(raw, at), false
}

func first(raw json.RawMessage) byte {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	if len(trimmed) == 0 {
		return 0
	}
	return trimmed[0]
}

func isContainer(raw json.RawMessage) bool { return first(raw) == '{' || first(raw) == '[' }

// object sieves an object. One foreign part makes the whole foreign; only the outermost object loses just the part,
// unless the part is its own name.
func (s *sieve) object(raw json.RawMessage, at position) (json.RawMessage, bool) {
	members, err := readObject(raw)
	if err != nil {
		return nil, true
	}
	before := s.removed
	inside := position{at.depth + 1, at.entry || at.depth > 0 && s.namesItself(members)}
	kept := object{}
	for _, m := range members {
		start := s.removed
		value, foreign := s.value(m.key, m.raw, inside)
		switch {
		case foreign && (at.depth > 0 || !isContainer(m.raw)):
			return nil, true
		case foreign:
			s.removed = start + 1
		default:
			kept = append(kept, member{m.key, value})
		}
	}
	if s.removed == before {
		return raw, false
	}
	return kept.encode(), false
}

// namesItself reports whether an object has a name of its own, which makes it an entry.
func (s *sieve) namesItself(members object) bool {
	for _, m := range members {
		text, isText := readText(m.raw)
		if _, names := boundOf(s.scope, m.key); names && isText && text != "" {
			return true
		}
	}
	return false
}

// list sieves the list under key. Inside an entry, a list of names or citations says what the entry rests on: one
// that is foreign makes the entry foreign. Every other list loses its foreign elements.
func (s *sieve) list(key string, raw json.RawMessage, at position) (json.RawMessage, bool) {
	_, names := boundOf(s.scope, key)
	rests := at.entry && (names || among(key, "citation", "citations", "sources", "evidence"))
	before := s.removed
	kept := []json.RawMessage{}
	for _, entry := range readList(raw) {
		start := s.removed
		value, foreign := s.value(key, entry, position{at.depth + 1, at.entry || first(entry) == '{'})
		switch {
		case foreign && rests:
			return nil, true
		case foreign:
			s.removed = start + 1
		default:
			kept = append(kept, value)
		}
	}
	if s.removed == before {
		return raw, false
	}
	return encodeList(kept), false
}

func valid(text string) bool {
	r := wire.NewReader([]byte(text))
	r.Skip()
	return r.End() == nil
}

// text sieves text that is itself a JSON object or list.
func (s *sieve) text(raw json.RawMessage, at position) json.RawMessage {
	text, isText := readText(raw)
	if !isText || !isContainer(json.RawMessage(text)) || !valid(text) {
		return raw
	}
	inner := sieve{scope: s.scope}
	kept, foreign := inner.value("", json.RawMessage(text), position{depth: at.depth + 1})
	if foreign {
		kept, inner.removed = json.RawMessage(`{"results":[],"citations":[]}`), 1
	}
	if inner.removed == 0 {
		return raw
	}
	s.removed += inner.removed
	return encode(string(kept))
}

// foreignName reports whether a plain value names something outside the scope. Nothing named is nothing foreign.
func (s *sieve) foreignName(key string, raw json.RawMessage) bool {
	bound, names := boundOf(s.scope, key)
	if !names || bound == nil || string(raw) == "null" {
		return false
	}
	id := string(raw)
	if text, isText := readText(raw); isText {
		id = strings.TrimSpace(text)
	}
	return id != "" && !slices.Contains(bound, id)
}

// boundOf returns the ids that a key of a result or reference may name, and whether it names anything.
func boundOf(scope sdk.Scope, key string) ([]string, bool) {
	switch {
	case among(key, keySource, keySources, keyRef, keyRefs, "source_id", "source_ids", "cited_source_ids"):
		return scope.SourceItemIDs, true
	case among(key, keyBase, keyBases):
		return scope.KnowledgeBaseIDs, true
	}
	return nil, false
}

// withDiagnostics says in an object how many entries are gone.
func withDiagnostics(raw json.RawMessage, removed int) json.RawMessage {
	result, err := readObject(raw)
	if err != nil {
		return raw
	}
	var diagnostics object
	if given, found := result.get("diagnostics"); found {
		if read, err := readObject(given); err == nil {
			diagnostics = read
		}
	}
	diagnostics.set("tool_policy_scope_result_filter", json.RawMessage(`{"removed":`+strconv.Itoa(removed)+"}"))
	result.set("diagnostics", diagnostics.encode())
	return result.encode()
}
