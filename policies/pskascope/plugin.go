// Package pskascope keeps a call to the knowledge system inside the scope the caller selected: it bounds the
// arguments before the call and drops result entries that name something else after it.
//
// What the model asked for can only narrow the scope, never widen it. Whatever cannot be understood lies outside.
// The host computes the same bounds once more on its own; the two share no code on purpose.
package pskascope

import "github.com/fastreact/fastreact/sdk"

// Plugin is the pska-scope plugin. The zero value is ready and may be used by many goroutines at once.
type Plugin struct{}

// Inject answers with the arguments bounded to the scope. It fails only when the arguments are no JSON object.
func (Plugin) Inject(request sdk.InjectRequest) (sdk.Injection, error) {
	asked, err := readObject(request.Args)
	if err != nil {
		return sdk.Injection{}, err
	}
	return newInjection(asked, request).answer(), nil
}

// Filter answers with the result without its entries from outside a hard scope. When there are none, the result
// comes back as it was given.
func (Plugin) Filter(request sdk.FilterRequest) (sdk.Filtering, error) {
	scope := request.Scope
	if scope.Mode == sdk.Soft || scope.KnowledgeBaseIDs == nil && scope.SourceItemIDs == nil {
		return sdk.Filtering{Result: request.Result}, nil
	}
	s := sieve{scope: scope}
	filtered, foreign := s.value("", request.Result, position{})
	if foreign {
		filtered, s.removed = []byte(`{"results":[],"citations":[]}`), 1
	}
	if s.removed == 0 {
		return sdk.Filtering{Result: request.Result}, nil
	}
	return sdk.Filtering{Result: withDiagnostics(filtered, s.removed), Removed: s.removed}, nil
}
