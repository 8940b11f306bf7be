package sdk

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func argsOf(t *testing.T, text string) Args {
	t.Helper()
	args, err := ReadArgs(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return args
}

func TestArgumentsAreReadByTheirTypes(t *testing.T) {
	args := argsOf(t, `{"text":"a\u00e4","truth":true,"number":-1.5e3,"whole":42,"texts":["x","y"],"object":{"in":"side"},"list":[1, {}],"nothing":null}`)
	inner, err := args.Object("object")
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]any{
		"text":   {"aä", first(args.Text("text"))},
		"truth":  {true, first(args.Bool("truth"))},
		"number": {-1500.0, first(args.Number("number"))},
		"whole":  {int64(42), first(args.Whole("whole"))},
		"texts":  {[]string{"x", "y"}, first(args.Texts("texts"))},
		"object": {"side", first(inner.Text("in"))},
		"list":   {[]json.RawMessage{json.RawMessage("1"), json.RawMessage("{}")}, first(args.List("list"))},
		"names":  {[]string{"text", "truth", "number", "whole", "texts", "object", "list", "nothing"}, args.Names()},
		"has":    {[]bool{true, false, false}, []bool{args.Has("text"), args.Has("nothing"), args.Has("missing")}},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func first[T any](value T, err error) any {
	if err != nil {
		return err
	}
	return value
}

func TestArgumentOfAnotherTypeIsAnErrorThatNamesIt(t *testing.T) {
	args := argsOf(t, `{"a":[1],"n":1.5,"s":"1"}`)
	for want, got := range map[string]any{
		`the argument "a" must be a string`:          first(args.Text("a")),
		`the argument "b" must be a string`:          first(args.Text("b")),
		`the argument "s" must be a number`:          first(args.Number("s")),
		`the argument "n" must be a whole number`:    first(args.Whole("n")),
		`the argument "n" must be true or false`:     first(args.Bool("n")),
		`the argument "a" must be a list of strings`: first(args.Texts("a")),
		`the argument "n" must be a list`:            first(args.List("n")),
		`the argument "s" must be an object`:         first(args.Object("s")),
	} {
		if err, failed := got.(error); !failed || err.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

func TestNameIsFoundInAnyCase(t *testing.T) {
	if got := first(argsOf(t, `{"Command":"rm"}`).Text("command")); got != "rm" {
		t.Errorf("%v", got)
	}
}

func TestArgumentsThatTwoReadersCouldUnderstandDifferentlyAreRefused(t *testing.T) {
	for _, text := range []string{
		`{"a":1,"a":2}`, `{"path":"x","Path":"y"}`, `{"\u0061":1,"a":2}`, `[]`, `null`, `"x"`, ``, `{`, `{"a":1}{}`, `{"a":}`,
	} {
		if got, err := ReadArgs(json.RawMessage(text)); err == nil {
			t.Errorf("%s was read as %v", text, got)
		}
	}
}

// FuzzArgumentsMeanWhatEncodingJSONReads compares the strings of an object.
func FuzzArgumentsMeanWhatEncodingJSONReads(f *testing.F) {
	f.Add([]byte(`{"a":"\ud83d\ude00","b":[1],"c":"\ud800"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want map[string]any
		wantErr := json.Unmarshal(raw, &want)
		args, err := ReadArgs(raw)
		if err != nil {
			if wantErr == nil && want != nil && !strings.Contains(err.Error(), "twice") {
				t.Errorf("%q: %v", raw, err)
			}
			return
		}
		if wantErr != nil || len(want) != len(args.Names()) {
			t.Fatalf("%q: %v, encoding/json: %v (%v)", raw, args.Names(), want, wantErr)
		}
		for name, value := range want {
			if text, isText := value.(string); isText && first(args.Text(name)) != text {
				t.Errorf("%q: %s = %v, encoding/json: %q", raw, name, first(args.Text(name)), text)
			}
		}
	})
}
