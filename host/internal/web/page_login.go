package web

import (
	"net/http"
	"strings"
	"time"
)

// pageCookie holds the id of a page's session. Scripts cannot read it, and no request of a foreign page carries it.
const pageCookie = "fastreact_ui"

// ProviderPage is how a caller proved itself that comes with the session of a page.
const ProviderPage = "ui_session"

// PageCode is the way into the page.
type PageCode struct {
	Code string // works once; empty where nobody is asked for a credential
	Ends time.Time
}

// PageCode makes a one-time code for the page, on behalf of the holder of the service token. The session that comes of
// it is the named user's, or with no user anyone's, as the token's holder is; in either case it opens the routes for
// pages only, and administers nothing.
func (x *Exchange) PageCode(user string) (PageCode, error) {
	if x.Caller.Provider == string(AuthNone) {
		return PageCode{}, nil
	}
	if x.Caller.Standing != Everybody {
		return PageCode{}, &Refusal{
			Status: http.StatusForbidden, Code: "service_token_required",
			Sentence: "Only the service token makes codes for the page.",
		}
	}
	caller := Caller{Standing: Everybody, Provider: ProviderPage}
	if user != "" {
		if !validKey(user) {
			return PageCode{}, BadRequest("invalid_user_key", "The user key is not valid.")
		}
		caller = Caller{Standing: User, Provider: ProviderPage, UserKey: user, TenantKey: TenantOf(user)}
	}
	code, ends, ok := x.door.pages.code(caller)
	if !ok {
		return PageCode{}, &Refusal{
			Status: http.StatusTooManyRequests, Code: "too_many_codes",
			Sentence: "Too many codes wait to be used. Use one, or wait until they are too old.", RetryAfter: time.Minute,
		}
	}
	return PageCode{code, ends}, nil
}

// LogIn turns a code into a session of the browser that sent it. A session that the browser had before ends, and no id
// that a browser brings is ever taken over.
func (x *Exchange) LogIn(code string) error {
	origin, refusal := ownOrigin(x.Request.Header)
	if refusal != nil {
		return refusal
	}
	id, session, ok := x.door.pages.redeem(code, origin, cookieOf(x.Request))
	if !ok {
		return &Refusal{
			Status: http.StatusUnauthorized, Code: "invalid_code",
			Sentence: "This code was used, is too old or never existed.",
		}
	}
	x.setCookie(id, origin, int(session.ends.Sub(x.door.pages.cfg.Clock()).Seconds()))
	return nil
}

// LogOut ends the session of the browser, in all its tabs.
func (x *Exchange) LogOut() error {
	origin, refusal := ownOrigin(x.Request.Header)
	if refusal != nil {
		return refusal
	}
	id := cookieOf(x.Request)
	if session, there := x.door.pages.session(id); there && session.origin != origin {
		return foreignPage()
	}
	x.door.pages.end(id)
	x.setCookie("", origin, -1)
	return nil
}

// PageSession returns when the session that this request came with ends. ok is false where it came without one.
func (x *Exchange) PageSession() (ends time.Time, ok bool) {
	if x.Caller.Provider != ProviderPage {
		return time.Time{}, false
	}
	session, ok := x.door.pages.session(cookieOf(x.Request))
	return session.ends, ok
}

// setCookie gives the browser a cookie for that many seconds; a negative number takes it away.
func (x *Exchange) setCookie(id, origin string, seconds int) {
	http.SetCookie(x.writer, &http.Cookie{
		Name: pageCookie, Value: id, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: x.Request.TLS != nil || strings.HasPrefix(origin, "https://"),
	})
}

// cookieOf returns the id of the session that a request names; two that differ name none.
func cookieOf(r *http.Request) string {
	id := ""
	for _, cookie := range r.CookiesNamed(pageCookie) {
		if id != "" && id != cookie.Value {
			return ""
		}
		id = cookie.Value
	}
	return id
}

// identify returns the caller of a route: by its credential, or on the routes for pages by the session of one. A
// request that brings a credential is judged by that alone.
func (d *door) identify(r *http.Request, route Route) (Caller, *Refusal) {
	caller, refusal := d.auth.authenticate(r, route)
	if refusal == nil || !route.Page || refusal.Status != http.StatusUnauthorized || bringsCredential(r.Header) {
		return caller, refusal
	}
	id := cookieOf(r)
	session, there := d.pages.session(id)
	if id == "" || !there {
		return Caller{}, refusal
	}
	if refusal := session.admits(r); refusal != nil {
		return Caller{}, refusal
	}
	if session.caller.Standing != User {
		return session.caller, nil
	}
	if refusal := session.caller.agreesWithHeaders(r.Header); refusal != nil {
		return Caller{}, refusal
	}
	return session.caller, d.auth.guests.admit(session.caller.UserKey, session.caller.TenantKey)
}

func bringsCredential(header http.Header) bool {
	return len(header.Values("Authorization"))+len(header.Values(TokenHeader))+len(header.Values(AdminHeader)) > 0
}

// admits refuses what the page that logged in did not send itself. A cookie comes with a request whoever made the
// browser send it; the browser's word for who that was decides.
func (p pass) admits(r *http.Request) *Refusal {
	site := r.Header.Get("Sec-Fetch-Site")
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		if site == "" || site == "same-origin" || site == "none" {
			return nil
		}
		return foreignPage()
	}
	origin, refusal := ownOrigin(r.Header)
	if refusal == nil && origin != p.origin {
		return foreignPage()
	}
	return refusal
}

// ownOrigin returns the origin of a request that a page of this service sent. Whether the origin is served here was
// asked before.
func ownOrigin(header http.Header) (string, *Refusal) {
	origins, site := header.Values("Origin"), header.Values("Sec-Fetch-Site")
	if len(origins) != 1 || originAuthority(origins[0]) == "" {
		return "", foreignPage()
	}
	if len(site) > 1 || len(site) == 1 && site[0] != "same-origin" {
		return "", foreignPage()
	}
	return strings.ToLower(origins[0]), nil
}

func foreignPage() *Refusal {
	return &Refusal{
		Status: http.StatusForbidden, Code: "page_required",
		Sentence: "A session is for requests of the page that logged in.",
	}
}
