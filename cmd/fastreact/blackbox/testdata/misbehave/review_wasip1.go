package main

import (
	"encoding/json"
	"strings"
)

// review releases a draft that asks for nothing else.
func review(text []byte) uint64 {
	var request struct {
		Draft json.RawMessage `json:"draft"`
	}
	_ = json.Unmarshal(text, &request)
	_, behave, _ := strings.Cut(string(request.Draft), "behave:")
	behave, _, _ = strings.Cut(behave, ";")
	if result, done := fail(behave); done {
		return result
	}
	switch behave {
	case "reject":
		return object(map[string]any{"verdict": "repair", "reasons": []string{"the guard's own reason, with " + spelled()}})
	case "fallback":
		return object(map[string]any{"verdict": "fallback", "reasons": []string{spelled()}})
	case "maybe":
		return object(map[string]any{"verdict": "maybe", "reasons": []string{}})
	case "think":
		for n := range 60_000_000 {
			hoard[0] += byte(n)
		}
	}
	return object(map[string]any{"verdict": "release", "reasons": []string{}})
}
