package web

import "strings"

// Behalf says on whose behalf a request comes, as far as it says so outside its body.
type Behalf struct {
	Provider, User, Tenant string
	Roles                  []string
	Own                    bool // proved by the caller's own credential: nothing in the body may say otherwise
}

// Behalf returns what the caller proved, or where it may speak for anyone, what it says in headers.
func (x *Exchange) Behalf() Behalf {
	if caller := x.Caller; caller.IsUser() {
		return Behalf{caller.Provider, caller.UserKey, caller.TenantKey, caller.Roles, true}
	}
	header := x.Request.Header
	return Behalf{Provider: x.Caller.Provider, User: header.Get(UserHeader), Tenant: header.Get(TenantHeader)}
}

// Contradicted reports whether a body says something else than the caller's own credential does.
func (b Behalf) Contradicted(said any, own string) bool {
	return b.Own && said != nil && said != "" && said != own
}

// UserIDOf is the knowledge system's user id: the part of a user key behind the colon.
func UserIDOf(userKey string) string {
	_, id, _ := strings.Cut(userKey, ":")
	return id
}

// Agreed returns the value of a key field or of the header that may stand in for it. Both may say it, but not
// differently.
func (f Fields) Agreed(key, header string) string {
	value := f.Word(key, MaxKey)
	switch {
	case header == "":
		return value
	case len(header) > MaxKey || !Printable(header):
		f.Fault("value_error", "The header of the same meaning is not valid", key)
	case value != "" && value != header:
		f.Fault("value_error", "The body and the header name different values", key)
	}
	return header
}

// Printable reports whether text holds no control characters and nothing that is no text.
func Printable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' }) < 0
}
