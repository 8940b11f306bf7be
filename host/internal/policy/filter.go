package policy

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// ErrUnverifiable reports a result that is no JSON, so that nobody can tell which sources it speaks of.
var ErrUnverifiable = errors.New("result cannot be checked against the scope")

// Filters reports whether results are filtered under a scope: it is hard and bounds something.
func Filters(scope *sdk.Scope) bool {
	return scope != nil && scope.Mode != sdk.Soft && (scope.KnowledgeBaseIDs != nil || scope.SourceItemIDs != nil)
}

// Verifiable reports whether a result is JSON in which entries can be told apart: no bare text.
func Verifiable(result json.RawMessage) bool {
	_, err := decodeResult(result)
	return err == nil
}

func decodeResult(result json.RawMessage) (any, error) {
	value, err := run.Decode(result)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnverifiable, err)
	}
	if text, isText := value.(string); isText && !wrapsJSON(text) {
		return nil, fmt.Errorf("%w: bare text", ErrUnverifiable)
	}
	return value, nil
}

// FilterResult removes from a JSON result every entry that names a source or knowledge base outside the scope. It is
// the host's own pass after a scope plugin's, which removed before entries. The result's diagnostics say how many
// are gone in all; when nothing is, the bytes come back untouched. ErrUnverifiable when the result is not
// Verifiable.
func FilterResult(result json.RawMessage, scope sdk.Scope, before int) (json.RawMessage, int, error) {
	value, err := decodeResult(result)
	if err != nil {
		return nil, 0, err
	}
	s := &sieve{}
	value = s.result(naming{scope: scope}, value)
	removed := before + s.removed
	if removed == 0 {
		return result, 0, nil
	}
	if object, isObject := value.(map[string]any); isObject {
		diagnostics, isObject := object["diagnostics"].(map[string]any)
		if !isObject {
			diagnostics = map[string]any{}
		}
		diagnostics["tool_policy_scope_result_filter"] = map[string]any{"removed": removed}
		object["diagnostics"] = diagnostics
	}
	filtered, err := run.Encode(value)
	if err != nil {
		return nil, 0, err
	}
	return filtered, removed, nil
}

// FilterCitations returns the citations that name a source inside the scope, in order.
func FilterCitations(citations []string, scope sdk.Scope) []string {
	if scope.SourceItemIDs == nil {
		return citations
	}
	kept := []string{}
	for _, id := range citations {
		if inside, _ := plain(id, scope.SourceItemIDs); inside {
			kept = append(kept, id)
		}
	}
	return kept
}
