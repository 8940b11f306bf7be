package agenttools

import (
	"strings"
	"testing"
)

func TestOnlyJSONThatEverybodyReadsAlikeIsRead(t *testing.T) {
	nested := func(n int) string {
		return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
	}
	for body, good := range map[string]bool{
		`{}`:                 true,
		nested(maxDepth):     true,
		nested(maxDepth + 1): false,
		``:                   false,
		`[]`:                 false,
		`{"a":1,"a":1}`:      false,
		`{"a":"\ud83d"}`:     false,
		"{\"a\":\"\xff\"}":   false,
	} {
		if _, err := (route{}).decode([]byte(body)); (err == nil) != good {
			t.Errorf("%q: %v", body, err)
		}
	}
}
