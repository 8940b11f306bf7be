package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
)

func TestMalformedArgumentsAreNotRead(t *testing.T) {
	for _, text := range []string{
		`{`, `[]`, `null`, `"x"`, `7`, `{}{}`, `{"a":1} x`, `{"a":"b\u0000c"}`, `{"a\u0000":1}`, `{"a":[{"b":"\u0000"}]}`,
		`{a:1}`, "{\"a\":\"\x00\"}", ` `, ``,
	} {
		if args, issue := ReadArguments(json.RawMessage(`{"properties":{"a":{}}}`), json.RawMessage(text)); issue == nil {
			t.Errorf("%q was read as %s", text, args)
		}
	}
}

func TestArgumentsThatNestTooDeeplyAreNotRead(t *testing.T) {
	nested := func(levels int) json.RawMessage {
		return json.RawMessage(`{"text":"[[{{\\\"","a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + `}`)
	}
	if _, issue := ReadArguments(nil, nested(run.MaxDepth)); issue != nil {
		t.Errorf("%d levels: %v", run.MaxDepth, issue)
	}
	for _, levels := range []int{run.MaxDepth + 1, 9_999, 10_000, 100_000} {
		if _, issue := ReadArguments(nil, nested(levels)); issue == nil {
			t.Errorf("%d levels were read", levels)
		}
	}
}

func TestNoTextIsNoArgumentsForAToolWithoutParameters(t *testing.T) {
	for _, schema := range []string{``, `{}`, `{"type":"object","properties":{}}`} {
		args, issue := ReadArguments(json.RawMessage(schema), json.RawMessage(` `))
		if issue != nil || string(args) != `{}` {
			t.Errorf("%s: args = %s, issue = %v", schema, args, issue)
		}
	}
}

func TestArgumentsAreComparedWithTheSchema(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","required":["q","user_id","n"],"properties":{
		"q":{"type":"string"},"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},
		"l":{"type":"array"},"o":{"type":"object"},"m":{"type":["string","null"]},"x":{"anyOf":[]},"user_id":{"type":"string"}}}`)
	cases := map[string]*ArgumentIssue{
		`{"q":"a","n":1}`:                     nil,
		`{"q":"a","n":2.0}`:                   nil,
		`{"q":"a","n":123456789012345678901}`: nil,
		`{"q":"a","n":1,"f":1.5,"b":true,"l":[],"o":{},"m":null,"x":7,"unknown":1}`: nil,
		`{"q":"a","n":1,"f":null,"b":null}`:                                         nil,
		`{}`:                                                                        {Problem: "missing required arguments: n, q", Missing: []string{"n", "q"}},
		`{"q":"a"}`:                                                                 {Problem: "missing required arguments: n", Missing: []string{"n"}},
		`{"q":null,"n":1}`:                                                          {Problem: `argument "q" must be of type string`},
		`{"q":7,"n":1}`:                                                             {Problem: `argument "q" must be of type string`},
		`{"q":"a","n":1.5}`:                                                         {Problem: `argument "n" must be of type integer`},
		`{"q":"a","n":"1"}`:                                                         {Problem: `argument "n" must be of type integer`},
		`{"q":"a","n":1,"f":"1"}`:                                                   {Problem: `argument "f" must be of type number`},
		`{"q":"a","n":1,"b":"true"}`:                                                {Problem: `argument "b" must be of type boolean`},
		`{"q":"a","n":1,"l":{}}`:                                                    {Problem: `argument "l" must be of type array`},
		`{"q":"a","n":1,"o":[]}`:                                                    {Problem: `argument "o" must be of type object`},
		`{"q":"a","n":1,"m":1}`:                                                     {Problem: `argument "m" must be of type string or null`},
	}
	for args, want := range cases {
		if diff := cmp.Diff(want, CheckArguments(schema, json.RawMessage(args))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
}

func TestASchemaThatCannotBeReadAsksForNothing(t *testing.T) {
	for _, schema := range []string{``, `null`, `7`, `{"properties":[],"required":"q"}`, `{"properties":{"q":true}}`} {
		if issue := CheckArguments(json.RawMessage(schema), json.RawMessage(`{"q":1}`)); issue != nil {
			t.Errorf("%s: %v", schema, issue)
		}
	}
}
