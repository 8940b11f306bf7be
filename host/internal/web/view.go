package web

import (
	"net/http"

	"github.com/fastreact/fastreact/host/internal/run"
)

// View is the part of all runs and approvals that a caller may look at. What lies outside is not there.
type View struct {
	Tenant *run.TenantKey // nil = every tenant
	User   string         // empty = every user
}

// View returns the caller's view: "a user's credential sees its own runs, traces and approvals; role operator sees its
// tenant's; the service token sees all", or the tenant that it names. An operator without a tenant is a user.
func (x *Exchange) View() (View, error) {
	caller := x.Caller
	tenant := run.TenantKey(caller.TenantKey)
	switch {
	case caller.SpeaksForAnyone():
		return View{Tenant: x.namedTenant()}, nil
	case caller.Standing == Operator && tenant != "":
		return View{Tenant: &tenant}, nil
	case caller.IsUser() && caller.UserKey != "":
		return View{&tenant, caller.UserKey}, nil
	}
	return View{}, Forbidden()
}

// namedTenant narrows what is looked at, where a caller names a tenant.
func (x *Exchange) namedTenant() *run.TenantKey {
	if tenant := run.TenantKey(x.Request.Header.Get(TenantHeader)); tenant != "" {
		return &tenant
	}
	return nil
}

// Shows reports whether something of a tenant's user lies within the view.
func (v View) Shows(tenant run.TenantKey, user string) bool {
	return (v.Tenant == nil || *v.Tenant == tenant) && (v.User == "" || v.User == user)
}

// Forbidden refuses what a user's credential does not open.
func Forbidden() *Refusal {
	return &Refusal{
		Status: http.StatusForbidden, Code: "forbidden", Sentence: "Your credential does not open this.",
	}
}
