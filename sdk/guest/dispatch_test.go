package guest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

// everything answers every operation, each with what proves that its own method spoke.
type everything struct{}

func (everything) Call(_ context.Context, call sdk.Call) (sdk.Result, error) {
	return sdk.Result{Content: "<called " + call.Tool + ">"}, nil
}

func (everything) Evaluate(q sdk.Question) (sdk.Opinion, error) {
	if q.Tool == "fail" {
		return sdk.Opinion{}, errFailed
	}
	return sdk.Opinion{Action: sdk.Deny, Reason: q.Tool}, nil
}

func (everything) Inject(r sdk.InjectRequest) (sdk.Injection, error) {
	return sdk.Injection{Args: r.Args, Applied: true, Narrowed: []string{"a"}}, nil
}

func (everything) Filter(r sdk.FilterRequest) (sdk.Filtering, error) {
	return sdk.Filtering{Result: r.Result, Removed: 2}, nil
}

func (everything) Review(sdk.ReviewRequest) (sdk.Review, error) {
	return sdk.Review{Verdict: sdk.Repair, Reasons: []string{"x"}}, nil
}

var errFailed = errors.New("failed")

func TestEveryOperationReachesItsMethod(t *testing.T) {
	for op, pair := range map[sdk.Op][2]string{
		sdk.OpCall:     {`{"tool":"t"}`, `{"content":"<called t>"}`},
		sdk.OpEvaluate: {`{"tool":"t"}`, `{"action":"deny","reason":"t"}`},
		sdk.OpInject:   {`{"args":{"q":1}}`, `{"args":{"q":1},"applied":true,"narrowed":["a"]}`},
		sdk.OpFilter:   {`{"result":[1]}`, `{"result":[1],"removed":2}`},
		sdk.OpReview:   {`{"question":"q"}`, `{"verdict":"repair","reasons":["x"]}`},
	} {
		got, err := Dispatch(everything{}, op, []byte(pair[0]))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(pair[1], string(got)); diff != "" {
			t.Errorf("operation %d: %s", op, diff)
		}
	}
}

type onlyPolicy struct{ sdk.Policy }

func TestOperationOfAnotherKindIsAnError(t *testing.T) {
	for _, op := range []sdk.Op{0, sdk.OpCall, sdk.OpInject, sdk.OpFilter, sdk.OpReview, 6} {
		if _, err := Dispatch(onlyPolicy{}, op, []byte(`{}`)); !errors.Is(err, ErrWrongOp) {
			t.Errorf("operation %d: %v", op, err)
		}
	}
}

func TestFailureOfThePluginIsAnError(t *testing.T) {
	if _, err := Dispatch(everything{}, sdk.OpEvaluate, []byte(`{"tool":"fail"}`)); !errors.Is(err, errFailed) {
		t.Error(err)
	}
}

func TestInputThatIsNoJSONIsAnError(t *testing.T) {
	if _, err := Dispatch(everything{}, sdk.OpEvaluate, []byte(`{`)); err == nil {
		t.Error("it was answered")
	}
}

func TestModuleHoldsOnePlugin(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second plugin was taken")
		}
	}()
	var r registration
	r.set(policy{everything{}})
	r.set(policy{everything{}})
}

func FuzzDispatch(f *testing.F) {
	f.Add(uint32(sdk.OpCall), []byte(`{"tool":"t"}`))
	f.Fuzz(func(t *testing.T, op uint32, input []byte) {
		if answer, err := Dispatch(everything{}, sdk.Op(op), input); err == nil && !json.Valid(answer) {
			t.Errorf("%q is no JSON", answer)
		}
	})
}
