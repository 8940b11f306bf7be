package guest

import (
	"context"
	"errors"
	"strconv"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// ErrWrongOp reports an operation that the plugin's kind does not answer.
var ErrWrongOp = errors.New("the plugin does not answer this operation")

// Dispatch answers one operation natively, through the same JSON that a module sees: input and answer are one JSON
// value each. plugin implements sdk.Tool, sdk.Policy, sdk.Scoper or sdk.Guard. An error here is what a host sees as
// a failed plugin. Raw values that the plugin is given are parts of input, which must not change meanwhile.
func Dispatch(plugin any, op sdk.Op, input []byte) ([]byte, error) {
	switch op {
	case sdk.OpCall:
		if p, ok := plugin.(sdk.Tool); ok {
			return tool{p}.answer(op, input)
		}
	case sdk.OpEvaluate:
		if p, ok := plugin.(sdk.Policy); ok {
			return policy{p}.answer(op, input)
		}
	case sdk.OpInject, sdk.OpFilter:
		if p, ok := plugin.(sdk.Scoper); ok {
			return scoper{p}.answer(op, input)
		}
	case sdk.OpReview:
		if p, ok := plugin.(sdk.Guard); ok {
			return guard{p}.answer(op, input)
		}
	}
	return nil, wrongOp(op)
}

func wrongOp(op sdk.Op) error { return &opError{op} }

// opError is ErrWrongOp with the operation's number.
type opError struct{ op sdk.Op }

func (e *opError) Error() string {
	return "operation " + strconv.FormatUint(uint64(e.op), 10) + ": " + ErrWrongOp.Error()
}

func (e *opError) Unwrap() error { return ErrWrongOp }

// The four kinds of plugin. A module links the one that it serves and none of the others.
type (
	tool   struct{ sdk.Tool }
	policy struct{ sdk.Policy }
	scoper struct{ sdk.Scoper }
	guard  struct{ sdk.Guard }
)

func (t tool) answer(op sdk.Op, input []byte) ([]byte, error) {
	if op != sdk.OpCall {
		return nil, wrongOp(op)
	}
	return answer(input, readCall, t.within, writeResult)
}

// within runs the tool until the deadline that the host has set, if it told one.
func (t tool) within(call sdk.Call) (sdk.Result, error) {
	if call.Deadline.IsZero() {
		return t.Call(context.Background(), call)
	}
	ctx, cancel := context.WithDeadline(context.Background(), call.Deadline)
	defer cancel()
	return t.Call(ctx, call)
}

func (p policy) answer(op sdk.Op, input []byte) ([]byte, error) {
	if op != sdk.OpEvaluate {
		return nil, wrongOp(op)
	}
	return answer(input, readQuestion, p.Evaluate, writeOpinion)
}

func (s scoper) answer(op sdk.Op, input []byte) ([]byte, error) {
	switch op {
	case sdk.OpInject:
		return answer(input, readInjectRequest, s.Inject, writeInjection)
	case sdk.OpFilter:
		return answer(input, readFilterRequest, s.Filter, writeFiltering)
	}
	return nil, wrongOp(op)
}

func (g guard) answer(op sdk.Op, input []byte) ([]byte, error) {
	if op != sdk.OpReview {
		return nil, wrongOp(op)
	}
	return answer(input, readReviewRequest, g.Review, writeReview)
}

func answer[In, Out any](input []byte, read func(*wire.Reader) In, work func(In) (Out, error), write func(Out) ([]byte, error)) ([]byte, error) {
	r := wire.NewReader(input)
	in := read(r)
	if err := r.End(); err != nil {
		return nil, failure("read input: ", err)
	}
	out, err := work(in)
	if err != nil {
		return nil, err
	}
	written, err := write(out)
	if err != nil {
		return nil, failure("write answer: ", err)
	}
	return written, nil
}

// failure wraps an error without package fmt, which a guest does not need.
func failure(doing string, err error) error { return &wrapped{doing, err} }

type wrapped struct {
	doing string
	err   error
}

func (w *wrapped) Error() string { return w.doing + w.err.Error() }

func (w *wrapped) Unwrap() error { return w.err }
