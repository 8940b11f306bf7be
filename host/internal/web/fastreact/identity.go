package fastreact

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/sdk"
)

// contradicted reports whether a body names somebody else than the caller's own credential does.
func contradicted(by web.Behalf, places ...web.Fields) bool {
	for _, place := range places {
		for key, own := range map[string]string{
			"user_key": by.User, "tenant_key": by.Tenant, "pska_user_id": web.UserIDOf(by.User),
		} {
			if by.Contradicted(place.Raw(key), own) {
				return true
			}
		}
	}
	return false
}

// readIdentity finds out on whose behalf a run is asked for. Body and header may both say it, but not differently. Of
// a caller with a credential of its own only the purpose is taken from the body.
func readIdentity(fields, metadata web.Fields, by web.Behalf) sdk.Identity {
	identity := sdk.Identity{
		UserKey: by.User, TenantKey: by.Tenant, Purpose: metadata.Word("purpose", maxKey),
		Roles: by.Roles, AuthProvider: by.Provider,
	}
	if by.Own {
		identity.UserID = web.UserIDOf(identity.UserKey)
		return identity
	}
	identity.UserKey = fields.Agreed("user_key", by.User)
	identity.TenantKey = metadata.Agreed("tenant_key", by.Tenant)
	identity.UserID = metadata.Word("pska_user_id", maxKey)
	identity.Caller, identity.SystemKey = metadata.Word("caller", maxKey), metadata.Word("system_key", maxKey)
	if identity.TenantKey == "" {
		identity.TenantKey = web.TenantOf(identity.UserKey)
	}
	if identity.UserID == "" {
		identity.UserID = web.UserIDOf(identity.UserKey)
	}
	return identity
}

// wireIdentity is the identity context that runs, traces and audit keep.
type wireIdentity struct {
	Caller       *string `json:"caller"`
	Purpose      *string `json:"purpose"`
	PSKAUserID   *string `json:"pska_user_id"`
	TenantKey    *string `json:"tenant_key"`
	SystemKey    *string `json:"system_key"`
	UserKey      *string `json:"user_key"`
	AuthProvider *string `json:"auth_provider"`

	Roles []string `json:"roles,omitempty"` // of the credential
}

func toIdentity(i sdk.Identity) wireIdentity {
	return wireIdentity{
		Caller: orNull(i.Caller), Purpose: orNull(i.Purpose), PSKAUserID: orNull(i.UserID),
		TenantKey: orNull(i.TenantKey), SystemKey: orNull(i.SystemKey), UserKey: orNull(i.UserKey),
		AuthProvider: orNull(i.AuthProvider), Roles: i.Roles,
	}
}

// withIdentity returns the client's metadata and beside it the identity that the service found.
func withIdentity(request run.Request) map[string]any {
	metadata := map[string]any{}
	if len(request.Metadata) > 0 {
		kept := map[string]json.RawMessage{}
		if err := json.Unmarshal(request.Metadata, &kept); err == nil {
			for key, value := range kept {
				metadata[key] = value
			}
		}
	}
	metadata["identity"] = toIdentity(request.Identity)
	return metadata
}
