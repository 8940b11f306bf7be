package workbench

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// exchange carries one operation through the plugin host.
func exchange(ctx context.Context, p *wasm.Plugin, op sdk.Op, cc wasm.CallContext, input []byte) ([]byte, error) {
	switch op {
	case sdk.OpCall:
		return through(input, func(call sdk.Call) (sdk.Result, error) { return p.Call(ctx, cc, call) })
	case sdk.OpEvaluate:
		return through(input, func(q sdk.Question) (sdk.Opinion, error) { return p.Evaluate(ctx, q) })
	case sdk.OpInject:
		return through(input, func(r sdk.InjectRequest) (sdk.Injection, error) { return p.Inject(ctx, r) })
	case sdk.OpFilter:
		return through(input, func(r sdk.FilterRequest) (sdk.Filtering, error) { return p.Filter(ctx, r) })
	case sdk.OpReview:
		return through(input, func(r sdk.ReviewRequest) (sdk.Review, error) { return p.Review(ctx, r) })
	}
	return nil, fmt.Errorf("there is no operation %d", op)
}

func through[In, Out any](input []byte, ask func(In) (Out, error)) ([]byte, error) {
	var in In
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	out, err := ask(in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
