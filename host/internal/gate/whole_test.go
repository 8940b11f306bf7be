package gate

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

func TestAWholeAnswerIsKeptBesideItsText(t *testing.T) {
	w := newWorld(t)
	w.source.result = sdk.Result{Content: "[image]", Whole: json.RawMessage(`{"content":[{"type":"image"}]}`)}
	if got := w.do(callOf("docs_find", `{}`)); got.Content != "[image]" || string(got.Whole) != string(w.source.result.Whole) {
		t.Errorf("outcome %+v", got)
	}
}

func TestAWholeAnswerDoesNotPassAHardScope(t *testing.T) {
	w := newWorld(t)
	w.source.result = sdk.Result{Content: `{"results":[]}`, Whole: json.RawMessage(`{"structuredContent":{"source_item_id":"b1"}}`)}
	if got := w.do(scopedCall(`{}`, sdk.Hard)); got.Whole != nil || got.IsError {
		t.Errorf("outcome %+v", got)
	}
}

func TestAWholeAnswerThatNoEventCanHoldIsLeftOut(t *testing.T) {
	for name, whole := range map[string]string{"no JSON": `{"a":`, "too deep": strings.Repeat("[", 1000) + strings.Repeat("]", 1000)} {
		w := newWorld(t)
		w.source.result = sdk.Result{Content: "text", Whole: json.RawMessage(whole)}
		if got := w.do(callOf("docs_find", `{}`)); got.Whole != nil || got.Content != "text" {
			t.Errorf("%s: outcome %+v", name, got)
		}
	}
}

// unsure is a failure after which nobody knows whether the tool ran.
type unsure struct{ error }

func (unsure) OutcomeUnknown() bool { return true }

func TestAnUnknownOutcomeIsSaidToBeUnknown(t *testing.T) {
	for _, c := range []struct {
		err     error
		unknown bool
	}{{unsure{errors.New("gone")}, true}, {errors.New("refused"), false}} {
		w := newWorld(t)
		w.source.err = c.err
		if got := w.do(callOf("docs_find", `{}`)); got.Unknown != c.unknown || !got.IsError {
			t.Errorf("%v: outcome %+v", c.err, got)
		}
	}
}
