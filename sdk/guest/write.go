package guest

import (
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// answerSize is room for a usual answer, so that writing it needs one buffer.
const answerSize = 256

func writeResult(result sdk.Result) ([]byte, error) {
	o := wire.NewWriter(answerSize + len(result.Content) + len(result.Structured))
	o.TextIfAny("content", result.Content)
	if len(result.Structured) > 0 {
		o.Raw("structured", result.Structured)
	}
	o.BoolIfSo("is_error", result.IsError)
	o.TextsIfAny("citations", result.Citations)
	return o.End()
}

func writeOpinion(opinion sdk.Opinion) ([]byte, error) {
	o := wire.NewWriter(answerSize)
	o.Text("action", string(opinion.Action))
	o.TextIfAny("reason", opinion.Reason)
	o.TextIfAny("pattern_matched", opinion.PatternMatched)
	return o.End()
}

func writeInjection(injection sdk.Injection) ([]byte, error) {
	o := wire.NewWriter(answerSize + len(injection.Args))
	o.Raw("args", injection.Args)
	o.Bool("applied", injection.Applied)
	o.Texts("narrowed", injection.Narrowed)
	o.BoolIfSo("empty", injection.Empty)
	o.TextsIfAny("unverified", injection.Unverified)
	return o.End()
}

func writeFiltering(filtering sdk.Filtering) ([]byte, error) {
	o := wire.NewWriter(answerSize + len(filtering.Result))
	o.Raw("result", filtering.Result)
	o.Whole("removed", filtering.Removed)
	return o.End()
}

func writeReview(review sdk.Review) ([]byte, error) {
	o := wire.NewWriter(answerSize)
	o.Text("verdict", string(review.Verdict))
	o.Texts("reasons", review.Reasons)
	return o.End()
}

// writeProgress writes a report, unless a number in it is no JSON.
func writeProgress(p sdk.Progress) ([]byte, error) {
	o := wire.NewWriter(answerSize)
	o.TextIfAny("text", p.Text)
	o.NumberIfAny("done", p.Done)
	o.NumberIfAny("total", p.Total)
	return o.End()
}
