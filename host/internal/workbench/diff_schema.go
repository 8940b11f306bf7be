package workbench

import (
	"encoding/json"
)

// compareSchemas says how a JSON Schema changed. What is not provably equal or narrower widens: in doubt a reviewer
// looks.
func compareSchemas(before, after json.RawMessage) []Change {
	old, errOld := decodeAny(before)
	now, errNow := decodeAny(after)
	if errOld != nil || errNow != nil {
		return []Change{{Effect: Widens, Why: "a schema is no JSON"}}
	}
	s := &schemaDiff{}
	s.schema("", old, now)
	return s.changes
}

type schemaDiff struct{ changes []Change }

func (s *schemaDiff) add(effect Effect, path string, old, now any, why string) {
	s.changes = append(s.changes, Change{Effect: effect, Where: path, Old: showGiven(old), New: showGiven(now), Why: why})
}

// showGiven writes a keyword's value; one that is not given is nothing.
func showGiven(value any) string {
	if value == nil {
		return ""
	}
	return show(value)
}

// schema compares two schemas. true and a missing schema accept anything, false accepts nothing.
func (s *schemaDiff) schema(path string, old, now any) {
	if same(old, now) {
		return
	}
	was, oldObject := asSchema(old)
	is, newObject := asSchema(now)
	switch {
	case now == false:
		s.add(Narrows, path, old, now, "nothing is accepted here any more")
	case old == false:
		s.add(Widens, path, old, now, "something is accepted where nothing was")
	case !oldObject || !newObject:
		s.add(Widens, path, old, now, "it cannot be compared")
	default:
		for _, keyword := range union(was, is) {
			if !same(was[keyword], is[keyword]) {
				s.keyword(path, keyword, was, is)
			}
		}
	}
}

// asSchema returns a schema's keywords.
func asSchema(value any) (map[string]any, bool) {
	switch v := value.(type) {
	case map[string]any:
		return v, true
	case nil:
		return nil, true
	case bool:
		return nil, v
	}
	return nil, false
}

// keyword compares one keyword whose value changed.
func (s *schemaDiff) keyword(path, keyword string, was, is map[string]any) {
	old, now := was[keyword], is[keyword]
	at := within(path, keyword)
	switch keyword {
	case "title", "description", "$comment", "examples", "default", "deprecated", "readOnly", "writeOnly":
		s.add(Neutral, at, old, now, "words for people and models: it accepts the same")
	case "properties":
		s.properties(path, was, is)
	case "additionalProperties", "items", "propertyNames":
		s.schema(at, old, now)
	case "type":
		s.subset(at, typeSet(old), typeSet(now), old, now)
	case "enum", "anyOf":
		s.subset(at, valueSet(old), valueSet(now), old, now)
	case "required":
		s.superset(at, valueSet(old), valueSet(now), old, now)
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
		s.amount(at, old, now, 1)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
		s.amount(at, old, now, -1)
	case "pattern", "const", "format", "multipleOf", "uniqueItems", "contains", "not", "dependentRequired":
		s.demand(at, old, now)
	default:
		s.add(Widens, at, old, now, "whether it accepts more cannot be told: look at it")
	}
}

// properties compares the arguments of an object. A new one widens: the tool listens to something that it did not.
func (s *schemaDiff) properties(path string, was, is map[string]any) {
	old, _ := was["properties"].(map[string]any)
	now, _ := is["properties"].(map[string]any)
	closed := was["additionalProperties"] == false && is["additionalProperties"] == false && is["patternProperties"] == nil
	for _, name := range union(old, now) {
		at := within(within(path, "properties"), name)
		before, had := old[name]
		after, has := now[name]
		switch {
		case !had:
			s.add(Widens, at, nil, after, "it takes an argument that it did not take")
		case !has && closed:
			s.add(Narrows, at, before, nil, "it no longer takes this argument")
		case !has:
			s.add(Widens, at, before, nil, "this argument may hold anything now: other arguments are not refused")
		default:
			s.schema(at, before, after)
		}
	}
}
