package wasm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func opinions() []string {
	return []string{
		`{"action":"allow"}`, ` {"action":"deny","reason":"é \u00e9 \ud83d\ude00\n","pattern_matched":"rm "} `, `{"ACTION":"deny","Reason":"r"}`,
		`{"action":"allow","reason":null,"more":[{"action":"deny"}]}`, `{"action":null}`, `{"action":1}`, `{"action":"allow","reason":{}}`,
		`{"action":"allow"}x`, `{"action":"allow"}{"action":"deny"}`, `{"action":"allow"`, `[]`, `null`, ``, `"allow"`, `{"action":"Allow"}`, `{}`,
		"{\"action\":\"allow\",\"reason\":\"\xff\"}", `{"action":"allow",}`, `{"\u0061ction":"deny"}`,
	}
}

// agreeOnOpinion reads an answer by hand and with encoding/json. What stands there twice is refused by hand only.
func agreeOnOpinion(t *testing.T, answer []byte) {
	t.Helper()
	got, gotErr := decodeOpinion(answer)
	want, wantErr := decode[sdk.Opinion](answer)
	if gotErr != nil {
		if wantErr == nil && want.Action.Valid() && !strings.Contains(gotErr.Error(), "twice") {
			t.Errorf("%q is refused: %v", answer, gotErr)
		}
		return
	}
	if wantErr != nil {
		t.Fatalf("%q is read as %+v, encoding/json: %v", answer, got, wantErr)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q (-want +got):\n%s", answer, diff)
	}
}

func TestOpinionIsReadAsEncodingJSONReadsIt(t *testing.T) {
	for _, answer := range opinions() {
		agreeOnOpinion(t, []byte(answer))
	}
}

func FuzzOpinionIsReadAsEncodingJSONReadsIt(f *testing.F) {
	for _, answer := range opinions() {
		f.Add([]byte(answer))
	}
	f.Fuzz(agreeOnOpinion)
}

func TestOpinionWithTwoActionsIsRefused(t *testing.T) {
	for _, answer := range []string{`{"action":"deny","action":"allow"}`, `{"Action":"deny","action":"allow"}`, `{"action":"allow","reason":"a","REASON":"b"}`} {
		if got, err := decodeOpinion([]byte(answer)); err == nil {
			t.Errorf("%s is read as %+v", answer, got)
		}
	}
}
