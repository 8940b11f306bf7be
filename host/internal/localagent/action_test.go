package localagent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func knownInTest(id string) bool {
	return slices.Contains([]string{"graph.get_node", "research.prepare"}, id)
}

const (
	head     = `{"contract":"labfy.agent_model_action.v1",`
	goodCall = head + `"kind":"tool_call","tool_id":"graph.get_node","arguments":{"object_id":"x"}}`
	goodWord = head + `"kind":"final","text":"Done."}`
)

func nested(levels int) string {
	return head + `"kind":"tool_call","tool_id":"graph.get_node","arguments":{"a":` +
		strings.Repeat("[", levels-2) + strings.Repeat("]", levels-2) + `}}`
}

func TestAnActionIsACallOrALastWord(t *testing.T) {
	for name, text := range map[string]string{
		"a call":                   goodCall,
		"a last word":              goodWord,
		"keys in another order":    `{"text":"Done.","kind":"final","contract":"labfy.agent_model_action.v1"}`,
		"white space":              "\n " + strings.ReplaceAll(goodCall, ",", " ,\n\t") + "\r\n",
		"twelve levels":            nested(12),
		"8192 characters":          head + `"kind":"final","text":"` + strings.Repeat("é", 8192) + `"}`,
		"32 KiB":                   goodWord + strings.Repeat(" ", maxAction-len(goodWord)),
		"one key in two objects":   head + `"kind":"tool_call","tool_id":"graph.get_node","arguments":{"a":{"b":1},"c":{"b":1}}}`,
		"an escaped key":           `{"contr\u0061ct":"labfy.agent_model_action.v1","kind":"final","text":"Done."}`,
		"a fence within the words": head + `"kind":"final","text":"` + "```json" + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseAction(text, knownInTest); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatIsNotExactlyOneActionIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                 "",
		"words":                   "I will call the tool.",
		"a fence":                 "```json\n" + goodCall + "\n```",
		"words before":            "Sure: " + goodCall,
		"words after":             goodCall + " done",
		"two actions":             goodCall + goodCall,
		"a list":                  "[" + goodCall + "]",
		"null":                    "null",
		"a text":                  `"final"`,
		"cut":                     goodCall[:len(goodCall)-1],
		"a byte order mark":       "\ufeff" + goodCall,
		"no UTF-8":                strings.Replace(goodWord, "Done", "\xff", 1),
		"another contract":        strings.Replace(goodCall, "action.v1", "action.v2", 1),
		"no contract":             `{"kind":"final","text":"Done."}`,
		"another kind":            strings.Replace(goodWord, "final", "authorize", 1),
		"kind grant":              strings.Replace(goodWord, "final", "grant", 1),
		"kind in capitals":        strings.Replace(goodWord, "final", "FINAL", 1),
		"kind of another type":    head + `"kind":["final"],"text":"Done."}`,
		"key in capitals":         strings.Replace(goodWord, "text", "Text", 1),
		"a key more":              head + `"kind":"final","text":"Done.","thought":"x"}`,
		"a key more in a call":    head + `"kind":"tool_call","tool_id":"graph.get_node","arguments":{},"approved":true}`,
		"both kinds at once":      head + `"kind":"final","text":"Done.","tool_id":"graph.get_node","arguments":{}}`,
		"no arguments":            head + `"kind":"tool_call","tool_id":"graph.get_node"}`,
		"arguments as text":       head + `"kind":"tool_call","tool_id":"graph.get_node","arguments":"{}"}`,
		"arguments null":          head + `"kind":"tool_call","tool_id":"graph.get_node","arguments":null}`,
		"arguments a list":        head + `"kind":"tool_call","tool_id":"graph.get_node","arguments":[]}`,
		"an unknown tool":         head + `"kind":"tool_call","tool_id":"research.grant","arguments":{}}`,
		"a registered name":       head + `"kind":"tool_call","tool_id":"research_contact","arguments":{}}`,
		"tool of another type":    head + `"kind":"tool_call","tool_id":1,"arguments":{}}`,
		"a key twice":             head + `"kind":"final","kind":"final","text":"Done."}`,
		"a key twice, escaped":    head + `"kind":"final","text":"a","t\u0065xt":"b"}`,
		"a key twice below":       head + `"kind":"tool_call","tool_id":"graph.get_node","arguments":{"a":[{"b":1,"b":2}]}}`,
		"thirteen levels":         nested(13),
		"more than 32 KiB":        goodWord + strings.Repeat(" ", maxAction-len(goodWord)+1),
		"an empty last word":      strings.Replace(goodWord, "Done.", "", 1),
		"8193 characters":         head + `"kind":"final","text":"` + strings.Repeat("x", 8193) + `"}`,
		"NUL":                     strings.Replace(goodWord, "Done.", `a\u0000b`, 1),
		"NUL in an argument":      strings.Replace(goodCall, `"x"`, `"\u0000"`, 1),
		"NUL in a key":            strings.Replace(goodCall, `object_id`, `\u0000`, 1),
		"a last word of no text":  head + `"kind":"final","text":null}`,
		"thousands of open lists": strings.Repeat("[", 30_000),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parseAction(text, knownInTest); err == nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

// strictly is what encoding/json itself says of one kind of action.
func strictly(text string, into any) bool {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into) == nil && len(bytes.TrimSpace([]byte(text[decoder.InputOffset():]))) == 0
}

func FuzzAnActionIsWhatAStrictDecoderReads(f *testing.F) {
	for _, text := range []string{goodCall, goodWord, nested(12), nested(13), goodCall + "x", `{"a":1,"a":2}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseAction(text, knownInTest)
		if err != nil {
			return
		}
		if got.tool == "" {
			var want struct{ Contract, Kind, Text string }
			if !strictly(text, &want) || want.Contract != actionContract || want.Kind != "final" || want.Text != got.text {
				t.Fatalf("%q is read as %+v", text, got)
			}
			if n := utf8.RuneCountInString(got.text); n < 1 || n > 8192 || strings.ContainsRune(got.text, 0) {
				t.Fatalf("%q has %d characters", text, n)
			}
		} else {
			var want struct {
				Contract, Kind string
				ToolID         string         `json:"tool_id"`
				Arguments      map[string]any `json:"arguments"`
			}
			if !strictly(text, &want) || want.Contract != actionContract || want.Kind != "tool_call" || want.ToolID != got.tool ||
				want.Arguments == nil || !knownInTest(got.tool) {
				t.Fatalf("%q is read as %+v", text, got)
			}
		}
		if len(got.encode()) > maxAction {
			return // some characters are written longer than they were
		}
		if again, err := parseAction(got.encode(), knownInTest); err != nil || again.intent() != got.intent() || again.text != got.text {
			t.Fatalf("%q is written as %q: %v", text, got.encode(), err)
		}
	})
}
