package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/sdk"
)

// ErrWrongOp reports an operation that the plugin's kind does not answer.
var ErrWrongOp = errors.New("the plugin does not answer this operation")

// Dispatch answers one operation natively, through the same JSON that a module sees: input and answer are one JSON
// value each. plugin implements sdk.Tool, sdk.Policy, sdk.Scoper or sdk.Guard. An error here is what a host sees as
// a failed plugin.
func Dispatch(plugin any, op sdk.Op, input []byte) ([]byte, error) {
	switch op {
	case sdk.OpCall:
		if p, ok := plugin.(sdk.Tool); ok {
			return answer(input, func(call sdk.Call) (sdk.Result, error) { return callWithin(p, call) })
		}
	case sdk.OpEvaluate:
		if p, ok := plugin.(sdk.Policy); ok {
			return answer(input, p.Evaluate)
		}
	case sdk.OpInject:
		if p, ok := plugin.(sdk.Scoper); ok {
			return answer(input, p.Inject)
		}
	case sdk.OpFilter:
		if p, ok := plugin.(sdk.Scoper); ok {
			return answer(input, p.Filter)
		}
	case sdk.OpReview:
		if p, ok := plugin.(sdk.Guard); ok {
			return answer(input, p.Review)
		}
	}
	return nil, fmt.Errorf("operation %d: %w", op, ErrWrongOp)
}

// callWithin runs a tool until the deadline that the host has set, if it told one.
func callWithin(tool sdk.Tool, call sdk.Call) (sdk.Result, error) {
	if call.Deadline.IsZero() {
		return tool.Call(context.Background(), call)
	}
	ctx, cancel := context.WithDeadline(context.Background(), call.Deadline)
	defer cancel()
	return tool.Call(ctx, call)
}

func answer[In, Out any](input []byte, work func(In) (Out, error)) ([]byte, error) {
	var in In
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("read input: %w", err)
	}
	out, err := work(in)
	if err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
