package guest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// input is a payload that a host may send, and both ways to read it.
type input struct {
	name       string
	fast, slow func([]byte) (any, error)
}

func payload[T any](name string, read func(*wire.Reader) T) input {
	return input{
		name: name,
		fast: func(raw []byte) (any, error) {
			r := wire.NewReader(raw)
			value := read(r)
			return value, r.End()
		},
		slow: func(raw []byte) (any, error) {
			var value T
			err := json.Unmarshal(raw, &value)
			return value, err
		},
	}
}

func inputs() []input {
	return []input{
		payload("call", readCall), payload("question", readQuestion), payload("inject", readInjectRequest),
		payload("filter", readFilterRequest), payload("review", readReviewRequest), payload("opinion", sdk.ReadOpinion),
	}
}

var instants = cmp.Comparer(func(a, b time.Time) bool {
	_, inA := a.Zone()
	_, inB := b.Zone()
	return a.Equal(b) && inA == inB
})

// agree fails when a payload is read otherwise than encoding/json reads it. Only a doubled field may be refused.
func agree(t *testing.T, raw []byte) {
	t.Helper()
	for _, in := range inputs() {
		fast, fastErr := in.fast(raw)
		slow, slowErr := in.slow(raw)
		switch {
		case fastErr != nil && strings.Contains(fastErr.Error(), "stands there twice"):
		case (fastErr == nil) != (slowErr == nil):
			t.Errorf("%s: %q: %v, encoding/json: %v", in.name, raw, fastErr, slowErr)
		case fastErr == nil:
			if diff := cmp.Diff(slow, fast, instants); diff != "" {
				t.Errorf("%s: %q (-encoding/json +ours):\n%s", in.name, raw, diff)
			}
		}
	}
}

const whole = `{"tool":"exec","server":"s","raw_name":"r","args":{"command":"ls -l"},"identity":{"user_key":"pska:u","tenant_key":"pska",
	"user_id":"u","caller":"c","purpose":"qa","system_key":"k","roles":["a","b"],"auth_provider":"jwt"},
	"scope":{"mode":"hard","knowledge_base_ids":["kb"],"source_item_ids":[]},"now":"2026-11-30T12:00:00.5+01:00",
	"static":{"action":"allow","reason":"r","pattern_matched":"p"},"run_id":"run","call_id":"call","deadline":"2026-11-30T12:00:00Z",
	"schema":{"type":"object"},"result":[1, 2],"draft":{"a":null},"evidence":"e","question":"q","action":"deny","unknown":[{"x":[]}]}`

func seeds() []string {
	return []string{
		whole, `{}`, `null`, ` {"tool":null,"args":null,"identity":null,"scope":null,"now":null,"static":null,"deadline":null} `,
		`[]`, `"x"`, `{"tool":7}`, `{"identity":[]}`, `{"identity":{"roles":"a"}}`, `{"identity":{"roles":[null,"a"]}}`, `{"identity":{"roles":[1]}}`,
		`{"TOOL":"x"}`, `{"ſcope":{"mode":"soft"}}`, `{"\u0074ool":"x"}`, `{"tool":"\ud83d\ude00\ud83d\u0041\udc00é\/\b\f\n\r\t\"\\"}`, "{\"tool\":\"\xff\xe2\x28\"}", "{\"\xff\":1}",
		"{\"tool\":\"a\nb\"}", `{"tool":"\x"}`, `{"tool":"\u12G4"}`, `{"tool":"\ud83d\`, `{"args":01}`, `{"args":-}`, `{"args":1.}`, `{"args":1e}`, `{"args":-0.5E+7}`, `{"args":tru}`,
		`{"args": [1 , {"a" : "b]" } ] }x`, `{"args":{"a":1,}}`, `{"args":[1,]}`, `{,}`, `{"a":1 "b":2}`, `{"a"}`, `{a:1}`, `{"now":"2026-11-30"}`, `{"now":"2026-11-30T12:00:00\u005a"}`, `{"now":17}`, "\ufeff{}",
		`{"args":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `}`, `{"args":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
		`{"tool":"a","Tool":"b"}`, "", " ", `{"tool":"x"}{}`,
	}
}

func TestPayloadsAreReadAsEncodingJSONReadsThem(t *testing.T) {
	for _, seed := range seeds() {
		agree(t, []byte(seed))
	}
}

func TestFieldThatComesTwiceIsRefused(t *testing.T) {
	for _, raw := range []string{`{"tool":"a","tool":"a"}`, `{"tool":"a","TOOL":"b"}`, `{"identity":{},"identity":{}}`} {
		if _, err := inputs()[0].fast([]byte(raw)); err == nil {
			t.Errorf("%s was read", raw)
		}
	}
}

func FuzzPayloadsAreReadAsEncodingJSONReadsThem(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { agree(t, raw) })
}

// slowly writes what the SDK wrote before it had a writer of its own.
func slowly(t *testing.T, value any) (string, error) {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(out.String(), "\n"), err
}

func sameAnswer[T any](t *testing.T, value T, write func(T) ([]byte, error)) {
	t.Helper()
	fast, fastErr := write(value)
	slow, slowErr := slowly(t, value)
	if (fastErr == nil) != (slowErr == nil) {
		t.Errorf("%+v: %v, encoding/json: %v", value, fastErr, slowErr)
	}
	if fastErr == nil && string(fast) != slow {
		t.Errorf("%T: %q, encoding/json: %q", value, fast, slow)
	}
}

// answersAgree writes every answer with these parts.
func answersAgree(t *testing.T, text string, raw []byte, list []string, number float64, so bool) {
	t.Helper()
	sameAnswer(t, sdk.Result{Content: text, Structured: raw, IsError: so, Citations: list}, writeResult)
	sameAnswer(t, sdk.Opinion{Action: sdk.Action(text), Reason: text, PatternMatched: text}, writeOpinion)
	sameAnswer(t, sdk.Injection{Args: raw, Applied: so, Narrowed: list, Empty: so, Unverified: list}, writeInjection)
	sameAnswer(t, sdk.Filtering{Result: raw, Removed: int(number)}, writeFiltering)
	sameAnswer(t, sdk.Review{Verdict: sdk.GuardVerdict(text), Reasons: list}, writeReview)
	sameAnswer(t, sdk.Progress{Text: text, Done: &number}, writeProgress)
}

func FuzzAnswersAreWrittenAsEncodingJSONWritesThem(f *testing.F) {
	f.Add("a<b>&\u2028\xff\x00\"\\\n", []byte(` { "a" : [ 1, "x y\" " ] } `), 1e-7, true)
	f.Add("", []byte(`1 2`), 1e21, false)
	f.Fuzz(func(t *testing.T, text string, raw []byte, number float64, so bool) {
		answersAgree(t, text, raw, []string{text, "", text}, number, so)
	})
}

func TestEmptyPartsOfAnswersAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	for _, number := range []float64{0, 1, -1.5, 1e-6, 9e-7, 1e20, 1e21, 1e100, 1.0 / 3, 1 << 53} {
		answersAgree(t, "", nil, nil, number, false)
		answersAgree(t, "x", json.RawMessage{}, []string{}, -number, true)
	}
}

// The readers and writers know the fields of the public types by name. A field that somebody adds is missed here.
func TestEveryFieldOfAPayloadIsReadAndWritten(t *testing.T) {
	for _, in := range inputs() {
		full := reflect.New(reflect.TypeOf(must(t)(in.slow([]byte(`{}`))))).Elem()
		fill(full)
		raw, err := json.Marshal(full.Interface())
		if err != nil {
			t.Fatal(err)
		}
		got, err := in.fast(raw)
		if diff := cmp.Diff(full.Interface(), got, instants); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", in.name, err, diff)
		}
	}
}

func must(t *testing.T) func(any, error) any {
	return func(value any, err error) any {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// fill gives every exported field a value of its own.
func fill(v reflect.Value) {
	switch value := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*value = json.RawMessage(`{"a":[1]}`)
		return
	case *time.Time:
		*value = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text of " + v.Type().Name())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		v.Index(1).SetString("second")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" { // the host's own
				fill(v.Field(i))
			}
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

func TestErrorsOfDispatchSayWhatFailed(t *testing.T) {
	_, err := Dispatch(everything{}, sdk.OpEvaluate, []byte(`{"tool":7}`))
	if err == nil || err.Error() != "read input: JSON, byte 8: this is not a string" {
		t.Error(err)
	}
	if _, err := Dispatch(everything{}, sdk.Op(9), nil); !errors.Is(err, ErrWrongOp) || !strings.Contains(err.Error(), "9") {
		t.Error(err)
	}
}

func filled[T any]() T {
	var value T
	fill(reflect.ValueOf(&value).Elem())
	return value
}

func TestEveryFieldOfAnAnswerIsWritten(t *testing.T) {
	sameAnswer(t, filled[sdk.Result](), writeResult)
	sameAnswer(t, filled[sdk.Opinion](), writeOpinion)
	sameAnswer(t, filled[sdk.Injection](), writeInjection)
	sameAnswer(t, filled[sdk.Filtering](), writeFiltering)
	sameAnswer(t, filled[sdk.Review](), writeReview)
	sameAnswer(t, filled[sdk.Progress](), writeProgress)
}
