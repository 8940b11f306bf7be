package wasm

import (
	"bytes"
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// decode reads a guest's answer: exactly one JSON object. Fields that the host does not know are left to later hosts.
func decode[T any](answer []byte) (T, error) {
	var out T
	if trimmed := bytes.TrimLeft(answer, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return out, fail(run.PluginBadAnswer, "the answer is not a JSON object")
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		var none T
		return none, fail(run.PluginBadAnswer, "the answer is not what was asked for: %w", err)
	}
	return out, nil
}

func decodeOpinion(answer []byte) (sdk.Opinion, error) {
	opinion, err := decode[sdk.Opinion](answer)
	if err != nil {
		return sdk.Opinion{}, err
	}
	if !opinion.Action.Valid() {
		return sdk.Opinion{}, fail(run.PluginBadVerdict, "%.40q is not an action", opinion.Action)
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
	return sdk.Review{}, fail(run.PluginBadVerdict, "%.40q is not a guard verdict", review.Verdict)
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
