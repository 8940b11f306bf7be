package workbench

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
)

// withCanary writes an input as a tenant would send it: its canary stands in every name of the identity, and in one
// text of the rest, chosen at random. What is no object stays as it is.
func withCanary(input json.RawMessage, canary string, random *rand.Rand) json.RawMessage {
	value, err := decodeAny(input)
	fields, isObject := value.(map[string]any)
	if err != nil || !isObject {
		return input
	}
	if identity, there := fields["identity"].(map[string]any); there {
		for _, name := range []string{"user_key", "tenant_key", "user_id"} {
			identity[name] = canary
		}
	}
	rest := map[string]any{}
	for _, name := range []string{"args", "result", "draft", "evidence", "question"} {
		if part, there := fields[name]; there {
			rest[name] = part
		}
	}
	texts := countTexts(rest)
	if texts == 0 {
		return asJSON(fields)
	}
	at := random.IntN(texts)
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		fields[name] = mark(rest[name], canary, &at)
	}
	return asJSON(fields)
}

// countTexts counts the texts below a value, keys left out.
func countTexts(value any) int {
	n := 0
	switch v := value.(type) {
	case string:
		return 1
	case []any:
		for _, item := range v {
			n += countTexts(item)
		}
	case map[string]any:
		for _, item := range v {
			n += countTexts(item)
		}
	}
	return n
}

// mark appends the canary to the text that stands at a place, counted down in the order of their paths.
func mark(value any, canary string, at *int) any {
	switch v := value.(type) {
	case string:
		*at--
		if *at == -1 {
			return v + canary
		}
	case []any:
		for i := range v {
			v[i] = mark(v[i], canary, at)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = mark(v[name], canary, at)
		}
	}
	return value
}
