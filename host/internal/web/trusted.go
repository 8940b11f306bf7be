package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Headers in which a trusted proxy, or the holder of the service token, says on whose behalf it comes.
const (
	UserHeader     = "X-FastReAct-User-Key"
	TenantHeader   = "X-FastReAct-Tenant-Key"
	rolesHeader    = "X-FastReAct-Roles"
	providerHeader = "X-FastReAct-Auth-Provider"
)

// MaxKey is the longest user or tenant key, in characters.
const MaxKey = 256

// maxHeader bounds any other identity header, in bytes.
const maxHeader = 4096

// fromHeaders believes the identity headers of a trusted proxy.
func (a authenticator) fromHeaders(r *http.Request) (Caller, *Refusal) {
	if !a.trusts(r.RemoteAddr) {
		if r.Header.Values(UserHeader) == nil {
			return Caller{}, unauthorized("The identity headers of a trusted proxy are required.")
		}
		return Caller{}, &Refusal{
			Status: http.StatusForbidden, Code: "untrusted_proxy",
			Sentence: "Identity headers are taken from trusted proxies only.",
		}
	}
	caller := Caller{Standing: User, Provider: string(AuthTrustedHeaders)}
	for _, name := range []string{
		UserHeader, TenantHeader, rolesHeader, providerHeader,
		"X-FastReAct-Subject", "X-FastReAct-Display-Name", "X-FastReAct-Email", "X-FastReAct-Groups",
	} {
		// A second value was added by somebody whom the proxy did not overwrite.
		if values := r.Header.Values(name); len(values) > 1 || len(values) == 1 && len(values[0]) > maxHeader {
			return Caller{}, unauthorized("The identity headers are not valid.")
		}
	}
	caller.UserKey, caller.TenantKey = r.Header.Get(UserHeader), r.Header.Get(TenantHeader)
	if caller.TenantKey == "" {
		caller.TenantKey = TenantOf(caller.UserKey)
	}
	caller.Roles = wordsOf(r.Header.Get(rolesHeader))
	if provider := r.Header.Get(providerHeader); provider != "" {
		caller.Provider = provider
	}
	switch {
	case caller.UserKey == "":
		return Caller{}, unauthorized("The trusted proxy named no user.")
	case strings.Contains(caller.UserKey+caller.TenantKey, ","): // two values in one line, as some proxies join them
		return Caller{}, unauthorized("The identity headers are not valid.")
	case !validKey(caller.UserKey), caller.TenantKey != "" && !validKey(caller.TenantKey), !validKey(caller.Provider),
		isOwnProvider(caller.Provider) && caller.Provider != string(AuthTrustedHeaders):
		return Caller{}, unauthorized("The identity headers are not valid.")
	}
	return caller, nil
}

// isOwnProvider reports whether a proxy's word for itself is one of ours.
func isOwnProvider(word string) bool {
	own := []string{"none", "service_token", "trusted_headers", "jwt", "admin_token", ProviderPage}
	return slices.Contains(own, strings.ToLower(word))
}

// trusts reports whether the other end of the connection is a trusted proxy. X-Forwarded-For plays no part.
func (a authenticator) trusts(remote string) bool {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(a.proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// agreesWithHeaders refuses identity headers that name somebody else than the credential does.
func (c Caller) agreesWithHeaders(header http.Header) *Refusal {
	for name, own := range map[string]string{UserHeader: c.UserKey, TenantHeader: c.TenantKey} {
		for _, value := range header.Values(name) {
			if value != own {
				return Impersonation()
			}
		}
	}
	return nil
}

// Impersonation refuses a caller that names somebody else than its credential does.
func Impersonation() *Refusal {
	return &Refusal{
		Status: http.StatusForbidden, Code: "identity_mismatch",
		Sentence: "Only the service token may speak for somebody else.",
	}
}

// TenantOf infers the tenant from "the prefix before : in user_key".
func TenantOf(userKey string) string {
	tenant, _, found := strings.Cut(userKey, ":")
	if !found {
		return ""
	}
	return tenant
}

func wordsOf(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// validKey reports whether a key is short, whole and printable, and neither begins nor ends with white space.
func validKey(key string) bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
	return key != "" && key == strings.TrimSpace(key) && utf8.RuneCountInString(key) <= MaxKey &&
		strings.IndexFunc(key, odd) < 0
}
