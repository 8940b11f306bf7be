package wasm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// decode reads a guest's answer: exactly one JSON object. Fields that the host does not know are left to later hosts.
func decode[T any](answer []byte) (T, error) {
	var out T
	if trimmed := bytes.TrimLeft(answer, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return out, fail(run.PluginBadAnswer, "the answer is not a JSON object")
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		var none T
		return none, fail(run.PluginBadAnswer, "the answer is not what was asked for: %s", whereOf(err))
	}
	return out, nil
}

// whereOf says where an answer is wrong, in words that hold nothing of the answer.
func whereOf(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is no JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("a value at byte %d is of another type than %s", kind.Offset, kind.Type)
	}
	return "it is not JSON of the right shape"
}

func decodeOpinion(answer []byte) (sdk.Opinion, error) {
	r := wire.NewReader(answer)
	if r.Kind() != wire.Object {
		return sdk.Opinion{}, fail(run.PluginBadAnswer, "the answer is not a JSON object")
	}
	opinion := sdk.ReadOpinion(r)
	if err := r.End(); err != nil {
		return sdk.Opinion{}, fail(run.PluginBadAnswer, "the answer is not what was asked for: %w", err)
	}
	if !opinion.Action.Valid() {
		return sdk.Opinion{}, fail(run.PluginBadVerdict, "the action is none of the four")
	}
	return opinion, nil
}

func decodeReview(answer []byte) (sdk.Review, error) {
	review, err := decode[sdk.Review](answer)
	if err != nil {
		return sdk.Review{}, err
	}
	switch review.Verdict {
	case sdk.Release, sdk.Repair, sdk.Fallback:
		return review, nil
	}
	return sdk.Review{}, fail(run.PluginBadVerdict, "the verdict is none of the three")
}

func decodeInjection(answer []byte) (sdk.Injection, error) {
	injection, err := decode[sdk.Injection](answer)
	if err != nil {
		return sdk.Injection{}, err
	}
	if _, err := decode[map[string]json.RawMessage](injection.Args); err != nil && !injection.Empty {
		return sdk.Injection{}, fail(run.PluginBadAnswer, "the injected arguments are not a JSON object")
	}
	return injection, nil
}

// decodeFiltering gives the original result back when nothing was removed: JSON on the way to the guest lost its
// white space.
func decodeFiltering(answer []byte, original json.RawMessage) (sdk.Filtering, error) {
	filtering, err := decode[sdk.Filtering](answer)
	if err != nil {
		return sdk.Filtering{}, err
	}
	if filtering.Removed < 0 || len(filtering.Result) == 0 {
		return sdk.Filtering{}, fail(run.PluginBadAnswer, "the filtered result is missing")
	}
	if filtering.Removed == 0 {
		filtering.Result = original
	}
	return filtering, nil
}

func encode(input any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(input); err != nil {
		return nil, fail(run.PluginUnavailable, "write input: %w", err)
	}
	if buffer.Len() > maxInputBytes {
		return nil, fail(run.PluginUnavailable, "the input has %d bytes, the limit is %d", buffer.Len(), maxInputBytes)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
