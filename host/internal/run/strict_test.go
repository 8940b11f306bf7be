package run

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestAnObjectIsReadWithItsMembersAsTheyWereWritten(t *testing.T) {
	got, err := ReadObject([]byte(" {\"a\": {\"b\": [1.0, \"x\"]}, \"A\":null}\n"), 3)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]json.RawMessage{"a": json.RawMessage(`{"b": [1.0, "x"]}`), "A": json.RawMessage(`null`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOnlyJSONThatEverybodyReadsAlikeIsRead(t *testing.T) {
	const depth = 32
	nested := func(n int) string {
		return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
	}
	for text, good := range map[string]bool{
		`{}`:                                   true,
		" {\"a\" : 1.50e3}\n":                  true,
		`{"a":{"a":[{"a":1},{"a":2}]},"b":{}}`: true,
		`{"a":"\ud83d\ude00 \\ud800 \" \\"}`:   true,
		`{"a":"\u0000"}`:                       true,
		nested(depth):                          true,
		nested(depth + 1):                      false,
		nested(depth - 1)[:5*(depth-1)] + `[[]]` + strings.Repeat("}", depth-1): false,
		strings.Repeat(`{"a":`, 100_000):                                        false,
		``:                                                                      false,
		` `:                                                                     false,
		`null`:                                                                  false,
		`[]`:                                                                    false,
		`"x"`:                                                                   false,
		`1`:                                                                     false,
		`{"a"}`:                                                                 false,
		`{"a":1`:                                                                false,
		`{"a":1,}`:                                                              false,
		`{a:1}`:                                                                 false,
		`{'a':1}`:                                                               false,
		`{} {}`:                                                                 false,
		`{}x`:                                                                   false,
		"\xef\xbb\xbf{}":                                                        false,
		`{"a":1,"a":1}`:                                                         false,
		`{"a":1,"\u0061":1}`:                                                    false,
		`{"x":{"a":1,"a":2}}`:                                                   false,
		`{"x":[[{"a":1},{"a":1,"a":2}]]}`:                                       false,
		"{\"a\":\"\xff\"}":                                                      false,
		"{\"a\":\"\xed\xa0\x80\"}":                                              false,
		`{"a":"\ud83d"}`:                                                        false,
		`{"a":"\ude00\ud83d"}`:                                                  false,
		`{"a":"\ud83dx\ude00"}`:                                                 false,
		`{"a":"\ud83d\ud83d\ude00"}`:                                            false,
		`{"a":"\ud83d","b":"\ude00"}`:                                           false,
		`{"a":NaN}`:                                                             false,
		`{"a":01}`:                                                              false,
		"{\"a\":\"\n\"}":                                                        false,
		"{\"a\":\"\x00\"}":                                                      false,
	} {
		if _, err := ReadObject([]byte(text), depth); (err == nil) != good {
			t.Errorf("%.80q: %v", text, err)
		}
	}
}

func TestANULIsFoundInKeysAndTextsAtEveryDepth(t *testing.T) {
	for text, found := range map[string]bool{
		`{"a":"\u0000"}`: true, `{"\u0000":1}`: true, `{"a":[["x\u0000"]]}`: true,
		`{"a":"\\u0000"}`: false, `{"a":"\u0001\u00000"}`: true, `{"a":"\u0001 0000"}`: false, `{}`: false,
	} {
		if HasNUL([]byte(text)) != found {
			t.Errorf("%q: %v", text, !found)
		}
	}
}

func FuzzAnObjectThatIsReadHasEachKeyOnce(f *testing.F) {
	for _, seed := range []string{`{"a":"\ud83d\ude00"}`, `{"a":[1,{"b":null}]}`, `{"a":1,"a":2}`, `{"a":"\u`, "\xff", `[[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := ReadObject(raw, MaxDepth)
		if err != nil {
			return
		}
		var plain map[string]any
		if json.Unmarshal(raw, &plain) != nil || len(plain) != len(read) {
			t.Fatalf("%q was read as %v", raw, read)
		}
		again, err := Encode(plain)
		if err != nil || HasNUL(raw) != HasNUL(again) || strings.Count(string(raw), "\uFFFD") == 0 &&
			!strings.Contains(strings.ToLower(string(raw)), `\ufffd`) && strings.ContainsRune(string(again), utf8.RuneError) {
			t.Fatalf("%q is written again as %q: %v", raw, again, err)
		}
	})
}
