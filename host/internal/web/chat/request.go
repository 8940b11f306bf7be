package chat

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/sdk"
)

// sessionIDPattern is what a session may be called: as with the other faces, it travels in headers.
const sessionIDPattern = `^[!-~]{1,200}$`

// maxAlert is the longest name of an alert, in characters.
const maxAlert = 256

// The questions of a diagnosis that names no question.
const (
	firingAlerts = "Which alerts are firing in Prometheus right now? Find the cause of each and say what to do about it."
	firingAlert  = "The alert %q is firing in Prometheus. Find its cause and say what to do about it."
)

// readQuestion reads {"query": string, "session_id"?: string, "user_key"?: string}.
func (f *face) readQuestion(x *web.Exchange) (run.Request, error) {
	fields, err := f.readBody(x, blankQuery, "query", "session_id", "user_key")
	if err != nil {
		return run.Request{}, err
	}
	query, _ := fields.Raw("query").(string)
	if isBlank(query) {
		return run.Request{}, invalid(blankQuery)
	}
	request, err := f.request(x, fields, chatProfile)
	if err != nil {
		return run.Request{}, err
	}
	request.Messages = []run.Message{{Role: run.User, Content: query}}
	return request, nil
}

// readAlert reads {"alert"?: string}, or no body at all.
func (f *face) readAlert(x *web.Exchange) (run.Request, error) {
	const sentence = "The alert must be a name."
	fields, err := f.readBody(x, sentence, "alert")
	if err != nil {
		return run.Request{}, err
	}
	alert := strings.TrimSpace(fields.Word("alert", maxAlert))
	if fields.Err() != nil {
		return run.Request{}, invalid(sentence)
	}
	request, err := f.request(x, fields, diagnosisProfile)
	if err != nil {
		return run.Request{}, err
	}
	question := firingAlerts
	if alert != "" {
		question = fmt.Sprintf(firingAlert, alert)
	}
	request.Messages = []run.Message{{Role: run.User, Content: question}}
	return request, nil
}

// readBody reads an object that holds strings under these keys and nothing else. An empty body is an empty object.
func (f *face) readBody(x *web.Exchange, sentence string, keys ...string) (web.Fields, error) {
	none := web.NewFields(nil)
	if !wantsStream(x.Request.Header) && x.Request.URL.Path != feedbackPath {
		return none, notAcceptable()
	}
	x.Bound(f.cfg.MaxRequestBytes)
	object, err := x.Object()
	var refused *web.Refusal
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity:
		return none, invalid(sentence)
	case err != nil:
		return none, err
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(keys, key) {
			return none, invalid("The request may hold " + strings.Join(keys, ", ") + " and nothing else.")
		}
		if _, isText := object[key].(string); !isText && object[key] != nil {
			return none, invalid(sentence)
		}
	}
	return web.NewFields(object), nil
}

// request is what every run of this face has in common.
func (f *face) request(x *web.Exchange, fields web.Fields, profile string) (run.Request, error) {
	by := x.Behalf()
	if by.Contradicted(fields.Raw("user_key"), by.User) {
		return run.Request{}, web.Impersonation()
	}
	identity := identityOf(by, fields)
	if fields.Err() != nil {
		return run.Request{}, invalid("The user_key is not valid.")
	}
	session := run.NewID("session-")
	if given, _ := fields.Raw("session_id").(string); given != "" {
		session = fields.Matching("session_id", regexp.MustCompile(sessionIDPattern))
	}
	if fields.Err() != nil {
		return run.Request{}, invalid("The session_id is not valid.")
	}
	return run.Request{
		ID: run.NewID("run-"), SessionID: session, Kind: run.Chat, Identity: identity, Profile: profile,
		ToolPolicy: run.ToolPolicy{Unattended: true}, Detached: true, RunTimeout: f.cfg.RunTimeout,
	}, x.Admit(identity.UserKey, identity.TenantKey)
}

// identityOf finds out on whose behalf a run is asked for, as the other faces do.
func identityOf(by web.Behalf, fields web.Fields) sdk.Identity {
	identity := sdk.Identity{UserKey: by.User, TenantKey: by.Tenant, Roles: by.Roles, AuthProvider: by.Provider}
	if !by.Own {
		identity.UserKey = fields.Agreed("user_key", by.User)
		if identity.TenantKey == "" {
			identity.TenantKey = web.TenantOf(identity.UserKey)
		}
	}
	identity.UserID = web.UserIDOf(identity.UserKey)
	return identity
}

// isBlank reports whether a text shows nothing: spaces, marks without a letter, and letters that are drawn as a space.
func isBlank(text string) bool {
	shown := func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !strings.ContainsRune("\u115f\u1160\u2800\u3164\uffa0", r)
	}
	return strings.IndexFunc(text, shown) < 0
}
