package gateway

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnObjectIsReadWithItsMembersAsTheyWereWritten(t *testing.T) {
	got, err := readObject([]byte(" {\"a\": {\"b\": [1.0, \"x\"]}, \"A\":null}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]json.RawMessage{"a": json.RawMessage(`{"b": [1.0, "x"]}`), "A": json.RawMessage(`null`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatIsNoJSONObjectIsNotRead(t *testing.T) {
	for _, text := range []string{
		``, ` `, `null`, `[]`, `"a"`, `7`, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{} {}`, `{}x`, `{a:1}`, `{'a':1}`, "{\"a\":\"\xff\"}",
		"\ufeff{}", `{"a":NaN}`, `{"a":01}`, "{\"a\":\"\x00\"}", `{"a":1,"a":}`,
		`{"a":` + strings.Repeat(`[`, 64) + strings.Repeat(`]`, 64) + `}`, strings.Repeat(`{"a":`, 100_000),
	} {
		if got, err := readObject([]byte(text)); !errors.Is(err, errNotJSON) {
			t.Errorf("%.60q was read as %v, error %v", text, got, err)
		}
	}
}

func TestAKeyThatStandsTwiceIsAmbiguousAtEveryDepth(t *testing.T) {
	for _, text := range []string{
		`{"a":1,"a":1}`, `{"a":1,"\u0061":2}`, `{"x":{"a":1,"a":2}}`, `{"x":[{"a":1},{"a":1,"b":2,"a":3}]}`,
		`{"a":"\u0000"}`, `{"\u0000":1}`, `{"a":[["\u0000"]]}`,
	} {
		if got, err := readObject([]byte(text)); !errors.Is(err, errAmbiguous) {
			t.Errorf("%q was read as %v, error %v", text, got, err)
		}
	}
}

func TestAKeyMayStandInManyObjects(t *testing.T) {
	if _, err := readObject([]byte(`{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":3}}`)); err != nil {
		t.Error(err)
	}
}
