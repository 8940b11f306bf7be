package agenttools

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestOnlyJSONThatEverybodyReadsAlikeIsRead(t *testing.T) {
	nested := func(n int) string {
		return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
	}
	for body, good := range map[string]bool{
		`{}`:                                 true,
		" {\"a\" : 1.50e3}\n":                true,
		`{"a":{"b":1},"c":{"b":1}}`:          true,
		`{"a":[{"b":1},{"b":2}]}`:            true,
		`{"a":"\ud83d\ude00 \\ud800 \" \\"}`: true,
		nested(maxDepth):                     true,
		nested(maxDepth + 1):                 false,
		``:                                   false,
		`null`:                               false,
		`[]`:                                 false,
		`"x"`:                                false,
		`1`:                                  false,
		`{"a":1`:                             false,
		`{"a":1,}`:                           false,
		`{'a':1}`:                            false,
		`{} {}`:                              false,
		`{}x`:                                false,
		"\xef\xbb\xbf{}":                     false,
		`{"a":1,"a":1}`:                      false,
		`{"a":1,"\u0061":1}`:                 false,
		`{"x":{"a":1,"a":2}}`:                false,
		`{"x":[[{"a":1,"a":2}]]}`:            false,
		"{\"a\":\"\xff\"}":                   false,
		"{\"a\":\"\xed\xa0\x80\"}":           false,
		`{"a":"\ud83d"}`:                     false,
		`{"a":"\ude00\ud83d"}`:               false,
		`{"a":"\ud83dx\ude00"}`:              false,
		`{"a":NaN}`:                          false,
		`{"a":01}`:                           false,
		"{\"a\":\"\n\"}":                     false,
	} {
		if _, err := decodeObject([]byte(body)); (err == nil) != good {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func FuzzADecodedBodyIsOneObjectWithEachKeyOnce(f *testing.F) {
	for _, seed := range []string{`{"a":"\ud83d\ude00"}`, `{"a":[1,{"b":null}]}`, `{"a":1,"a":2}`, `{"a":"\u`, "\xff", `[[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := decodeObject(raw)
		if err != nil {
			return
		}
		var plain map[string]any
		if json.Unmarshal(raw, &plain) != nil || len(plain) != len(read) {
			t.Fatalf("%q was read as %v", raw, read)
		}
	})
}
