package fastreact

import (
	"net/http"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// view is the part of all runs and approvals that a caller may look at. What lies outside is not there.
type view struct {
	tenant *run.TenantKey // nil = every tenant
	user   string         // empty = every user
}

// viewOf returns the caller's view: "a user's credential sees its own runs, traces and approvals; role operator sees its
// tenant's; the service token sees all", or the tenant that it names. An operator without a tenant is a user.
func viewOf(x *web.Exchange) (view, error) {
	caller := x.Caller
	tenant := run.TenantKey(caller.TenantKey)
	switch {
	case caller.SpeaksForAnyone():
		return view{tenant: namedTenant(x.Request)}, nil
	case caller.Standing == web.Operator && tenant != "":
		return view{tenant: &tenant}, nil
	case caller.IsUser() && caller.UserKey != "":
		return view{&tenant, caller.UserKey}, nil
	}
	return view{}, notYours()
}

// namedTenant narrows what is looked at, where a caller names a tenant.
func namedTenant(r *http.Request) *run.TenantKey {
	if tenant := run.TenantKey(r.Header.Get(web.TenantHeader)); tenant != "" {
		return &tenant
	}
	return nil
}

// namesNoTenant reports whether a caller that may speak for anyone sends the tenant's header and leaves it empty: of
// several runs with one id it means the one that has no tenant.
func namesNoTenant(x *web.Exchange) bool {
	return x.Caller.SpeaksForAnyone() && len(x.Request.Header.Values(web.TenantHeader)) > 0
}

// shows reports whether something of a tenant's user lies within the view.
func (v view) shows(tenant run.TenantKey, user string) bool {
	return (v.tenant == nil || *v.tenant == tenant) && (v.user == "" || v.user == user)
}

// notYours refuses what a user's credential does not open.
func notYours() *web.Refusal {
	return &web.Refusal{
		Status: http.StatusForbidden, Code: "forbidden", Sentence: "Your credential does not open this.",
	}
}
