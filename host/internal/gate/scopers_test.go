package gate

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func TestSeveralScopePluginsSpeakInOrder(t *testing.T) {
	append1 := func(word string) *fakeScoper {
		return &fakeScoper{inject: func(r sdk.InjectRequest) (sdk.Injection, error) {
			args := string(r.Args[:len(r.Args)-1]) + `,"` + word + `":1}`
			return sdk.Injection{Args: json.RawMessage(args), Applied: true, Narrowed: []string{word}}, nil
		}}
	}
	got, err := Scopers(append1("a"), append1("b")).Inject(context.Background(), sdk.InjectRequest{Args: json.RawMessage(`{"q":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := sdk.Injection{Args: json.RawMessage(`{"q":1,"a":1,"b":1}`), Applied: true, Narrowed: []string{"a", "b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("injection (-want +got):\n%s", diff)
	}
}

func TestTheFirstScopePluginThatFailsFailsAll(t *testing.T) {
	broken := &fakeScoper{
		inject:    func(sdk.InjectRequest) (sdk.Injection, error) { return sdk.Injection{}, errors.New("broken") },
		filterErr: errors.New("broken"),
	}
	all := Scopers(&fakeScoper{}, broken)
	if _, err := all.Inject(context.Background(), sdk.InjectRequest{}); err == nil {
		t.Error("a failed injection was passed over")
	}
	if _, err := all.Filter(context.Background(), sdk.FilterRequest{}); err == nil {
		t.Error("a failed filter was passed over")
	}
}

func TestNoScopePluginIsNone(t *testing.T) {
	if Scopers() != nil {
		t.Error("there is one")
	}
}
