package guest

import (
	"strconv"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// answerSize is room for a usual answer, so that writing it needs one buffer.
const answerSize = 256

// object is a JSON object that is being written. The first value that is no JSON spoils it.
type object struct {
	out []byte
	err error
}

func newObject(size int) *object { return &object{out: append(make([]byte, 0, size), '{')} }

func (o *object) name(name string) {
	if len(o.out) > 1 {
		o.out = append(o.out, ',')
	}
	o.out = append(append(append(o.out, '"'), name...), '"', ':')
}

func (o *object) text(name, text string) {
	o.name(name)
	o.out = wire.AppendText(o.out, text)
}

// textIfAny leaves out what is empty.
func (o *object) textIfAny(name, text string) {
	if text != "" {
		o.text(name, text)
	}
}

func (o *object) texts(name string, texts []string) {
	o.name(name)
	o.out = wire.AppendTexts(o.out, texts)
}

func (o *object) textsIfAny(name string, texts []string) {
	if len(texts) > 0 {
		o.texts(name, texts)
	}
}

func (o *object) truth(name string, value bool) {
	o.name(name)
	o.out = strconv.AppendBool(o.out, value)
}

func (o *object) truthIfSo(name string, value bool) {
	if value {
		o.truth(name, value)
	}
}

func (o *object) raw(name string, value []byte) {
	o.name(name)
	out, err := wire.AppendRaw(o.out, value)
	if err != nil {
		o.err = err
		return
	}
	o.out = out
}

func (o *object) end() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	return append(o.out, '}'), nil
}

func writeResult(result sdk.Result) ([]byte, error) {
	o := newObject(answerSize + len(result.Content) + len(result.Structured))
	o.textIfAny("content", result.Content)
	if len(result.Structured) > 0 {
		o.raw("structured", result.Structured)
	}
	o.truthIfSo("is_error", result.IsError)
	o.textsIfAny("citations", result.Citations)
	return o.end()
}

func writeOpinion(opinion sdk.Opinion) ([]byte, error) {
	o := newObject(answerSize)
	o.text("action", string(opinion.Action))
	o.textIfAny("reason", opinion.Reason)
	o.textIfAny("pattern_matched", opinion.PatternMatched)
	return o.end()
}

func writeInjection(injection sdk.Injection) ([]byte, error) {
	o := newObject(answerSize + len(injection.Args))
	o.raw("args", injection.Args)
	o.truth("applied", injection.Applied)
	o.texts("narrowed", injection.Narrowed)
	o.truthIfSo("empty", injection.Empty)
	o.textsIfAny("unverified", injection.Unverified)
	return o.end()
}

func writeFiltering(filtering sdk.Filtering) ([]byte, error) {
	o := newObject(answerSize + len(filtering.Result))
	o.raw("result", filtering.Result)
	o.name("removed")
	o.out = strconv.AppendInt(o.out, int64(filtering.Removed), 10)
	return o.end()
}

func writeReview(review sdk.Review) ([]byte, error) {
	o := newObject(answerSize)
	o.text("verdict", string(review.Verdict))
	o.texts("reasons", review.Reasons)
	return o.end()
}

// writeProgress writes a report, unless a number in it is no JSON.
func writeProgress(p sdk.Progress) ([]byte, error) {
	o := newObject(answerSize)
	o.textIfAny("text", p.Text)
	o.numberIfAny("done", p.Done)
	o.numberIfAny("total", p.Total)
	return o.end()
}

func (o *object) numberIfAny(name string, number *float64) {
	if number == nil {
		return
	}
	o.name(name)
	out, err := wire.AppendNumber(o.out, *number)
	if err != nil {
		o.err = err
		return
	}
	o.out = out
}
