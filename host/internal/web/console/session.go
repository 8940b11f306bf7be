package console

import (
	"net/http"
	"time"

	"github.com/fastreact/fastreact/host/internal/web"
)

// maxCode bounds a code, in characters.
const maxCode = 128

// sessionRoutes are the ways in and out of the page.
func sessionRoutes() []web.Route {
	get, post := http.MethodGet, http.MethodPost
	return []web.Route{
		{Method: post, Path: "/v1/ui/codes", Handle: newCode},
		{Method: get, Path: "/v1/ui/session", Page: true, Handle: getSession},
		{Method: post, Path: "/ui/session", Public: true, Handle: logIn},
		{Method: http.MethodDelete, Path: "/ui/session", Public: true, Handle: logOut},
	}
}

type codeBody struct {
	Code      *string `json:"code"` // null: nobody is asked for a credential
	Path      string  `json:"path"` // to open in a browser, behind the base address
	ExpiresAt *string `json:"expires_at"`
}

// newCode makes a one-time code. It stands in the fragment of the address, which a browser sends to nobody.
func newCode(x *web.Exchange) error {
	object, err := x.Object()
	if err != nil {
		return err
	}
	fields := web.NewFields(object)
	user := fields.Word("user_key", web.MaxKey)
	if err := fields.Err(); err != nil {
		return err
	}
	code, err := x.PageCode(user)
	if err != nil {
		return err
	}
	if code.Code == "" {
		return x.JSON(http.StatusOK, codeBody{Path: "/ui/"})
	}
	ends := stamp(code.Ends)
	return x.JSON(http.StatusCreated, codeBody{&code.Code, "/ui/#code=" + code.Code, &ends})
}

type sessionBody struct {
	Session   bool    `json:"session"` // there is one, which can be ended
	UserKey   *string `json:"user_key"`
	ExpiresAt *string `json:"expires_at"`
}

// getSession says as whom the page may ask. Where it may not, the door has refused.
func getSession(x *web.Exchange) error {
	body := sessionBody{}
	if ends, ok := x.PageSession(); ok {
		end := stamp(ends)
		body.Session, body.ExpiresAt = true, &end
	}
	if user := x.Caller.UserKey; user != "" {
		body.UserKey = &user
	}
	return x.JSON(http.StatusOK, body)
}

func logIn(x *web.Exchange) error {
	object, err := x.Object()
	if err != nil {
		return err
	}
	fields := web.NewFields(object)
	code := fields.Word("code", maxCode)
	if !fields.Has("code") {
		fields.Missing("code")
	}
	if err := fields.Err(); err != nil {
		return err
	}
	if err := x.LogIn(code); err != nil {
		return err
	}
	return noContent(x)
}

func logOut(x *web.Exchange) error {
	if err := x.LogOut(); err != nil {
		return err
	}
	return noContent(x)
}

func noContent(x *web.Exchange) error {
	x.Header().Set("Cache-Control", "no-store")
	return x.Serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
