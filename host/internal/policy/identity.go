package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// identityKeys are the arguments that say on whose behalf a tool acts. They never come from the model.
var identityKeys = [...]string{
	"user_id", "owner_user_id", "represented_user_id", "tenant_id", "user_key", "tenant_key",
}

func isIdentityKey(key string) bool { return foldedIn(identityKeys[:], key) }

// foldedIn reports whether key is one of names in any case: a lenient server reads "User_ID" as "user_id".
func foldedIn(names []string, key string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, key) })
}

// BindIdentity returns args, canonical, with every identity argument set from the run's identity: those that the
// schema declares and those that the model wrote. Where the identity has no value the argument is left out.
func BindIdentity(schema, args json.RawMessage, identity sdk.Identity) (json.RawMessage, error) {
	object, err := decodeObject(args)
	if err != nil {
		return nil, err
	}
	bindIdentity(object, object, shapeOf(schema), identity)
	return run.Encode(object)
}

// bindIdentity sets identity arguments in target. asked is what the model wrote; it may be target itself.
func bindIdentity(target, asked map[string]any, s shape, identity sdk.Identity) {
	wanted := map[string]any{}
	for _, key := range identityKeys {
		_, present := asked[key]
		value := identityValue(key, identity)
		if value != "" && (s.declares(key) || present && s.takes(key)) {
			wanted[key] = value
		}
	}
	for key := range target {
		if isIdentityKey(key) {
			delete(target, key)
		}
	}
	for key, value := range wanted {
		target[key] = value
	}
}

func identityValue(key string, identity sdk.Identity) string {
	switch key {
	case "tenant_id", "tenant_key":
		return identity.TenantKey
	case "user_key":
		return identity.UserKey
	}
	if identity.UserID != "" {
		return identity.UserID
	}
	_, user, _ := strings.Cut(identity.UserKey, ":")
	return user
}

func decodeObject(raw json.RawMessage) (map[string]any, error) {
	value, err := run.Decode(raw)
	if err != nil {
		return nil, err
	}
	object, isObject := value.(map[string]any)
	if !isObject {
		return nil, fmt.Errorf("decode arguments: not a JSON object")
	}
	return object, nil
}
