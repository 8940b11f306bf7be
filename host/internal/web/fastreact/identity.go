package fastreact

import (
	"encoding/json"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/sdk"
)

// claims is what a request says about its caller outside the body.
type claims struct {
	provider, user, tenant string
	roles                  []string
	own                    bool // proved by the caller's own credential: nothing in the body may say otherwise
}

// claimsOf returns what a caller proved, or where it may speak for anyone, what it says in headers.
func claimsOf(x *web.Exchange) claims {
	if caller := x.Caller; caller.IsUser() {
		return claims{caller.Provider, caller.UserKey, caller.TenantKey, caller.Roles, true}
	}
	header := x.Request.Header
	return claims{provider: x.Caller.Provider, user: header.Get(web.UserHeader), tenant: header.Get(web.TenantHeader)}
}

// contradicted reports whether a body names somebody else than the caller's own credential does.
func (c claims) contradicted(fields, metadata web.Fields) bool {
	if !c.own {
		return false
	}
	for _, place := range []web.Fields{fields, metadata} {
		for key, own := range map[string]string{
			"user_key": c.user, "tenant_key": c.tenant, "pska_user_id": userIDOf(c.user),
		} {
			if said := place.Raw(key); said != nil && said != "" && said != own {
				return true
			}
		}
	}
	return false
}

// readIdentity finds out on whose behalf a run is asked for. Body and header may both say it, but not differently. Of
// a caller with a credential of its own only the purpose is taken from the body.
func readIdentity(fields, metadata web.Fields, claims claims) sdk.Identity {
	identity := sdk.Identity{
		UserKey: claims.user, TenantKey: claims.tenant, Purpose: metadata.Word("purpose", maxKey),
		Roles: claims.roles, AuthProvider: claims.provider,
	}
	if claims.own {
		identity.UserID = userIDOf(identity.UserKey)
		return identity
	}
	identity.UserKey = agree(fields, "user_key", claims.user)
	identity.TenantKey = agree(metadata, "tenant_key", claims.tenant)
	identity.UserID = metadata.Word("pska_user_id", maxKey)
	identity.Caller, identity.SystemKey = metadata.Word("caller", maxKey), metadata.Word("system_key", maxKey)
	if identity.TenantKey == "" {
		identity.TenantKey = web.TenantOf(identity.UserKey)
	}
	if identity.UserID == "" {
		identity.UserID = userIDOf(identity.UserKey)
	}
	return identity
}

// userIDOf is the knowledge system's user id: the part of a user key behind the colon.
func userIDOf(userKey string) string {
	_, id, _ := strings.Cut(userKey, ":")
	return id
}

// agree returns the value of a field or of the header that may stand in for it.
func agree(fields web.Fields, key, header string) string {
	value := fields.Word(key, maxKey)
	switch {
	case header == "":
		return value
	case len(header) > maxKey || !printable(header):
		fields.Fault("value_error", "The header of the same meaning is not valid", key)
	case value != "" && value != header:
		fields.Fault("value_error", "The body and the header name different values", key)
	}
	return header
}

func printable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' }) < 0
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
