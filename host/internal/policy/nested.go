package policy

import (
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// deeper bounds what lies below the arguments that the host computes itself. There the model may hide a filter under
// any name, such as filter.source_item_ids, so a member that names something outside the scope is taken out, and an
// identity is the run's. Identities inside lists are data, such as the authors of messages, and stay.
type deeper struct {
	clamp    *clamp
	identity sdk.Identity
}

// rest returns the arguments that are neither bounds nor identity, with everything foreign below them taken out.
func (d deeper) rest(args map[string]any) map[string]any {
	free := beyondScope(args)
	for key, value := range free {
		free[key] = d.bind(value, false)
	}
	return free
}

// bind returns a copy of the argument with everything foreign taken out.
func (d deeper) bind(value any, inList bool) any {
	switch v := value.(type) {
	case []any:
		list := make([]any, 0, len(v))
		for _, element := range v {
			list = append(list, d.bind(element, true))
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, member := range v {
			d.put(object, key, member, inList)
		}
		return object
	}
	return value
}

// put writes one member of an object unless it names something outside.
func (d deeper) put(object map[string]any, key string, member any, inList bool) {
	names := naming{scope: d.clamp.scope}
	if bound, isName := names.bound(key); isName && bound != nil {
		if _, foreign := names.under(key, member); foreign {
			d.clamp.outcome.Narrowed = append(d.clamp.outcome.Narrowed, key)
			return
		}
	}
	if strings.EqualFold(key, keyScopeMode) {
		object[keyScopeMode] = string(d.clamp.scope.Mode)
		return
	}
	if isIdentityKey(key) && !inList {
		if value := identityValue(strings.ToLower(key), d.identity); value != "" {
			object[strings.ToLower(key)] = value
		}
		return
	}
	object[key] = d.bind(member, inList)
}
