package c_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
	"github.com/fastreact/fastreact/testdata/peers"
)

// mirror is an instance of testdata/mirror.
type mirror struct {
	api.Module
	alloc, call api.Function
}

// built compiles the guest once.
var built = sync.OnceValues(func() ([]byte, error) {
	path, err := build.Dir(context.Background(), "testdata/mirror")
	if err != nil {
		return nil, err
	}
	defer os.Remove(path)
	return os.ReadFile(path)
})

func newMirror(t testing.TB) mirror {
	t.Helper()
	peers.Need(t, "clang")
	module, err := built()
	if err != nil {
		t.Fatal(err)
	}
	engine := wazero.NewRuntime(context.Background())
	t.Cleanup(func() { _ = engine.Close(context.Background()) })
	instance, err := engine.Instantiate(context.Background(), module)
	if err != nil {
		t.Fatal(err)
	}
	return mirror{instance, instance.ExportedFunction("fastreact_alloc"), instance.ExportedFunction("fastreact_call")}
}

// ask sends an input and returns the answer, or nothing when the guest failed the call.
func (m mirror) ask(t testing.TB, op sdk.Op, input []byte) []byte {
	t.Helper()
	at, err := m.alloc.Call(context.Background(), uint64(len(input)))
	if err != nil || at[0] == 0 || !m.Memory().Write(uint32(at[0]), input) {
		t.Fatalf("no room for %d bytes: %v", len(input), err)
	}
	packed, err := m.call.Call(context.Background(), uint64(op), at[0], uint64(len(input)))
	if err != nil {
		t.Fatalf("%q: %v", input, err)
	}
	if packed[0] == 0 {
		return nil
	}
	answer, inside := m.Memory().Read(uint32(packed[0]>>32), uint32(packed[0]))
	if !inside {
		t.Fatal("the answer lies outside")
	}
	return bytes.Clone(answer)
}

// structured unpacks the answer of the mirror.
func structured(t testing.TB, answer []byte) string {
	t.Helper()
	var result struct{ Structured json.RawMessage }
	if err := json.Unmarshal(answer, &result); err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	return string(result.Structured)
}

func decoded(t testing.TB, text []byte) any {
	t.Helper()
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return value
}

// agree mirrors args and compares what comes back with what encoding/json reads in them.
func agree(t *testing.T, m mirror, args []byte) {
	t.Helper()
	input := append(append([]byte(`{"tool":"mirror","args":`), args...), '}')
	answer := m.ask(t, sdk.OpCall, input)
	if answer == nil && deep(input) {
		return
	}
	if (answer != nil) != json.Valid(input) {
		t.Fatalf("%q was read: %v, encoding/json says valid: %v", input, answer != nil, json.Valid(input))
	}
	if answer == nil || !json.Valid(args) {
		return // args may close the input's object and open another
	}
	got := decoded(t, []byte(structured(t, answer)))
	if want := decoded(t, args); !reflect.DeepEqual(want, got) {
		t.Errorf("%.200q: %.500v, encoding/json: %.500v", args, got, want)
	}
}

// deep reports whether an input may lie deeper than the header goes.
func deep(input []byte) bool {
	return bytes.Count(input, []byte("["))+bytes.Count(input, []byte("{")) > 250
}

func seeds() []string {
	return []string{
		`{}`, `[]`, `null`, `true`, `""`, `{"a":[1,-2,3.5e-7,"x",{"b":{}}],"c":null}`, ` [ 1 , 2 ] `, `-9223372036854775808`, `9223372036854775807`, `9223372036854775808`, `-0`,
		`"\"\\\/\b\f\n\r\t\u0000\u00e4\u20ac\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"ä€😀"`, "\"\xff\xc3\x28\xe2\x82\xed\xa0\x80\xf4\x90\x80\x80\"", "\"\u2028\x7f\"",
		`{"\u0061":1}`, `01`, `1.`, `.1`, `1e`, `+1`, `tru`, `[1,]`, `{"a":1,}`, `{"a"}`, `{a:1}`, `"\x"`, `"\u12"`, "\"\n\"", `"`, `[`, `1}x{`, ``, `[1 2]`, `{"a":1 "b":2}`, "\x00",
		strings.Repeat("[", 250) + strings.Repeat("]", 250), `"` + strings.Repeat(`ä`, 40_000) + `"`, `[` + strings.Repeat(`"text",`, 30_000) + `1]`,
	}
}

func TestHeaderReadsAndWritesWhatEncodingJSONDoes(t *testing.T) {
	m := newMirror(t)
	for _, seed := range seeds() {
		agree(t, m, []byte(seed))
	}
}

func TestEveryByteOfAStringIsLookedAt(t *testing.T) {
	m := newMirror(t)
	for _, odd := range []string{`\"`, `\\`, `\u0041`, `\x`, `"`, `",1,"`, "\x00", "\x1f", " ", "\x7f", "\x80", "ä", "\xff"} {
		for before := range 18 {
			agree(t, m, []byte(`"`+strings.Repeat("x", before)+odd+strings.Repeat("y", 9)+`"`))
			agree(t, m, []byte(`{"`+strings.Repeat("x", before)+odd+`":["`+odd+strings.Repeat("y", before)+`"]}`))
		}
	}
}

func FuzzHeaderReadsAndWritesWhatEncodingJSONDoes(f *testing.F) {
	m := newMirror(f)
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, args []byte) { agree(t, m, args) })
}

func TestValuesAreFoundByTheirPaths(t *testing.T) {
	m := newMirror(t)
	for _, fact := range []struct{ path, args, want string }{
		{"a/b", `{"a":{"b":7}}`, `7`},
		{"a/1/b", `{"a":[0,{"b":"x"}]}`, `"x"`},
		{"a/2", `{"a":[0,1]}`, `"missing"`},
		{"a/x", `{"a":[0,1]}`, `"missing"`},
		{"a/b/c", `{"a":1}`, `"missing"`},
		{"path", `{"PATH":1}`, `1`},
		{"\u212aey", `{"key":1}`, `1`},
		{"sort", "{\"\u017fort\":1}", `1`},
		{"a", `{"a":1,"A":2}`, `"ambiguous"`},
		{"a", `{"\u0061":1,"a":2}`, `"ambiguous"`},
		{"a/b", `{"a":{},"a":{"b":1}}`, `"ambiguous"`},
		{"a", `[]`, `"missing"`},
	} {
		input, err := json.Marshal(map[string]any{"tool": fact.path, "args": json.RawMessage(fact.args)})
		if err != nil {
			t.Fatal(err)
		}
		if got := structured(t, m.ask(t, sdk.OpCall, input)); got != fact.want {
			t.Errorf("%s in %s: %s, want %s", fact.path, fact.args, got, fact.want)
		}
	}
}

func TestTextsAreComparedAsPackageStringsComparesThem(t *testing.T) {
	m := newMirror(t)
	for _, word := range []string{"", "a", "ab", "aab", "abc", "é", "baaaaaaaab", strings.Repeat("a", 20)} {
		for before := range 18 {
			for _, text := range []string{word, word + "a", strings.Repeat("a", before) + word, strings.Repeat("a", before) + "b" + word + "é", strings.Repeat("b", before)} {
				args, _ := json.Marshal(map[string]string{"text": text, "word": word})
				got := structured(t, m.ask(t, sdk.OpCall, []byte(`{"tool":"contains","args":`+string(args)+`}`)))
				want := fmt.Sprintf("[%v,%v,%v,%v]", strings.Contains(text, word), text == word, strings.HasPrefix(text, word), strings.HasSuffix(text, word))
				if got != want {
					t.Fatalf("%q in %q: %s, want %s", word, text, got, want)
				}
			}
		}
	}
}

func TestNumberIsExactOrRefused(t *testing.T) {
	m := newMirror(t)
	for args, want := range map[string]string{
		`1.5`: `1500`, `-0.25e1`: `-2500`, `123456789012.345`: `123456789012345`, `0.001`: `1`,
		`1e23`: `"refused"`, `1234567890123456`: `"refused"`, `1e-23`: `"refused"`, `"1"`: `"refused"`, `1e999999999999`: `"refused"`,
	} {
		if got := structured(t, m.ask(t, sdk.OpCall, []byte(`{"tool":"number","args":`+args+`}`))); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func TestOperationOfAnotherKindFailsTheCall(t *testing.T) {
	m := newMirror(t)
	for _, op := range []sdk.Op{0, sdk.OpEvaluate, sdk.OpReview, 99} {
		if got := m.ask(t, op, []byte(`{"tool":"mirror","args":{}}`)); got != nil {
			t.Errorf("operation %d: %q", op, got)
		}
	}
}

func TestManyCallsNeedNoMoreMemoryThanTheBiggest(t *testing.T) {
	m := newMirror(t)
	big := []byte(`{"tool":"mirror","args":"` + strings.Repeat("x", 300_000) + `"}`)
	m.ask(t, sdk.OpCall, big)
	after := m.Memory().Size()
	for range 100 {
		m.ask(t, sdk.OpCall, big)
		m.ask(t, sdk.OpCall, []byte(`{"tool":"mirror","args":1}`))
	}
	if m.Memory().Size() > after+2<<20 {
		t.Errorf("%d bytes grew to %d", after, m.Memory().Size())
	}
}

func TestInputThatIsNestedTooDeepFailsTheCall(t *testing.T) {
	m := newMirror(t)
	for _, depth := range []int{256, 20_000} {
		args := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		if got := m.ask(t, sdk.OpCall, []byte(`{"tool":"mirror","args":`+args+`}`)); got != nil {
			t.Errorf("depth %d was answered", depth)
		}
	}
}
