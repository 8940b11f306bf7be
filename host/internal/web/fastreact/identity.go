package fastreact

import (
	"encoding/json"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/sdk"
)

// claims is what a request says about its caller outside the body.
type claims struct{ provider, user, tenant string }

// readIdentity finds out on whose behalf a run is asked for. Body and header may both say it, but not differently.
func readIdentity(fields, metadata web.Fields, claims claims) sdk.Identity {
	identity := sdk.Identity{
		UserKey:      agree(fields, "user_key", claims.user),
		TenantKey:    agree(metadata, "tenant_key", claims.tenant),
		UserID:       metadata.Word("pska_user_id", maxKey),
		Caller:       metadata.Word("caller", maxKey),
		Purpose:      metadata.Word("purpose", maxKey),
		SystemKey:    metadata.Word("system_key", maxKey),
		AuthProvider: claims.provider,
	}
	if identity.TenantKey == "" {
		identity.TenantKey = tenantOf(identity.UserKey)
	}
	if identity.UserID == "" {
		_, identity.UserID, _ = strings.Cut(identity.UserKey, ":")
	}
	return identity
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

// tenantOf infers the tenant from "the prefix before : in user_key".
func tenantOf(userKey string) string {
	tenant, _, found := strings.Cut(userKey, ":")
	if !found {
		return ""
	}
	return tenant
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
}

func toIdentity(i sdk.Identity) wireIdentity {
	return wireIdentity{
		Caller: orNull(i.Caller), Purpose: orNull(i.Purpose), PSKAUserID: orNull(i.UserID),
		TenantKey: orNull(i.TenantKey), SystemKey: orNull(i.SystemKey), UserKey: orNull(i.UserKey),
		AuthProvider: orNull(i.AuthProvider),
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
