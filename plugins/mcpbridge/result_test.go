package mcpbridge

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

// theAnswer stands for the answer as the server sent it.
var theAnswer = json.RawMessage("the answer")

func whole(content string) sdk.Result { return sdk.Result{Content: content, Whole: theAnswer} }

func TestResultsAreReadPartByPart(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   sdk.Result
	}{
		"single text keeps its bytes":        {`{"content":[{"type":"text","text":" {\"a\": 1.0,\n\"b\":\"<&\u2028\"} \n"}]}`, sdk.Result{Content: " {\"a\": 1.0,\n\"b\":\"<&\u2028\"} \n"}},
		"texts are joined by newlines":       {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, sdk.Result{Content: "a\nb"}},
		"tool error":                         {`{"content":[{"type":"text","text":"no"}],"isError":true}`, sdk.Result{Content: "no", IsError: true}},
		"image":                              {`{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}`, whole("[image image/png, 3 bytes]")},
		"audio without a type":               {`{"content":[{"type":"audio","data":"AA=="}]}`, whole("[audio unnamed, 1 bytes]")},
		"embedded resource":                  {`{"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"abc"}}]}`, sdk.Result{Content: "[resource file:///a text/plain, 3 bytes]\nabc"}},
		"embedded blob":                      {`{"content":[{"type":"resource","resource":{"uri":"file:///a","blob":"AAAA"}}]}`, whole("[resource file:///a unnamed, 3 bytes]")},
		"resource link":                      {`{"content":[{"type":"resource_link","uri":"file:///a","name":"A"}]}`, whole("[resource link file:///a A]")},
		"unknown type beside text":           {`{"content":[{"type":"hologram","x":1},{"type":"text","text":"a"}]}`, whole("[content of unknown type hologram]\na")},
		"part that is no object":             {`{"content":[7,{"type":"text","text":"a"}]}`, whole("[content that cannot be read]\na")},
		"text part without text":             {`{"content":[{"type":"text"}]}`, whole("[text without text]")},
		"bare string as content":             {`{"content":"plain"}`, sdk.Result{Content: "plain"}},
		"nothing":                            {`{}`, sdk.Result{}},
		"structured alone":                   {`{"content":[],"structuredContent":{"a":1.0}}`, sdk.Result{Structured: json.RawMessage(`{"a":1.0}`)}},
		"structured beside text":             {`{"content":[{"type":"text","text":"a"}],"structuredContent":{"a":1}}`, sdk.Result{Content: "a", Structured: json.RawMessage(`{"a":1}`), Whole: theAnswer}},
		"structured that the text repeats":   {`{"content":[{"type":"text","text":"{ \"a\": 1 }"}],"structuredContent":{"a":1}}`, sdk.Result{Content: `{ "a": 1 }`, Structured: json.RawMessage(`{"a":1}`)}},
		"structured that wraps the text":     {`{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":"a"}}`, sdk.Result{Content: "a", Structured: json.RawMessage(`{"result":"a"}`)}},
		"structured that wraps JSON":         {`{"content":[{"type":"text","text":"[ 1 ]"}],"structuredContent":{"list":[1]}}`, sdk.Result{Content: "[ 1 ]", Structured: json.RawMessage(`{"list":[1]}`)}},
		"structured that says more":          {`{"content":[{"type":"text","text":"[1]"}],"structuredContent":{"list":[1],"n":1}}`, sdk.Result{Content: "[1]", Structured: json.RawMessage(`{"list":[1],"n":1}`), Whole: theAnswer}},
		"structured beats descriptors":       {`{"content":[{"type":"image","data":""}],"structuredContent":[1]}`, sdk.Result{Structured: json.RawMessage(`[1]`), Whole: theAnswer}},
		"null structured is none":            {`{"content":[{"type":"text","text":"a"}],"structuredContent":null}`, sdk.Result{Content: "a"}},
		"error mark of a wrong type is none": {`{"content":[{"type":"text","text":"a"}],"isError":"yes"}`, sdk.Result{Content: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readResult(json.RawMessage(c.answer))
			if err != nil {
				t.Fatal(err)
			}
			if c.want.Whole != nil {
				c.want.Whole = json.RawMessage(c.answer)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResultThatIsNoObjectIsUnreadable(t *testing.T) {
	for _, answer := range []string{`[]`, `"text"`, `7`, `null`} {
		if _, err := readResult(json.RawMessage(answer)); !errors.Is(err, errUnreadable) {
			t.Errorf("%s: got %v", answer, err)
		}
	}
}

func FuzzReadResult(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"a"}],"structuredContent":{}}`)
	f.Add(`{"content":{"type":[]}}`)
	f.Fuzz(func(t *testing.T, answer string) {
		result, err := readResult(json.RawMessage(answer))
		if err == nil && result.Structured != nil && !json.Valid(result.Structured) {
			t.Errorf("invalid structured content %q", result.Structured)
		}
		if err == nil && result.Whole != nil && !json.Valid(result.Whole) {
			t.Errorf("invalid whole answer %q", result.Whole)
		}
	})
}
