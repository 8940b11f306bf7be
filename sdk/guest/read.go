package guest

import (
	"time"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

func readCall(r *wire.Reader) sdk.Call {
	var call sdk.Call
	m := wire.NewFields("tool", "args", "identity", "scope", "run_id", "call_id", "deadline")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "tool":
			call.Tool = r.TextOrNull()
		case "args":
			call.Args = r.Raw()
		case "identity":
			call.Identity = readIdentity(r)
		case "scope":
			call.Scope = readScopePointer(r)
		case "run_id":
			call.RunID = r.TextOrNull()
		case "call_id":
			call.CallID = r.TextOrNull()
		case "deadline":
			call.Deadline = moment(r)
		default:
			r.Skip()
		}
	}
	return call
}

func readQuestion(r *wire.Reader) sdk.Question {
	var q sdk.Question
	m := wire.NewFields("tool", "server", "raw_name", "args", "identity", "scope", "now", "static")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "tool":
			q.Tool = r.TextOrNull()
		case "server":
			q.Server = r.TextOrNull()
		case "raw_name":
			q.RawName = r.TextOrNull()
		case "args":
			q.Args = r.Raw()
		case "identity":
			q.Identity = readIdentity(r)
		case "scope":
			q.Scope = readScopePointer(r)
		case "now":
			q.Now = moment(r)
		case "static":
			q.Static = sdk.ReadOpinion(r)
		default:
			r.Skip()
		}
	}
	return q
}

func readInjectRequest(r *wire.Reader) sdk.InjectRequest {
	var request sdk.InjectRequest
	m := wire.NewFields("tool", "args", "scope", "schema")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "tool":
			request.Tool = r.TextOrNull()
		case "args":
			request.Args = r.Raw()
		case "scope":
			request.Scope = readScope(r)
		case "schema":
			request.Schema = r.Raw()
		default:
			r.Skip()
		}
	}
	return request
}

func readFilterRequest(r *wire.Reader) sdk.FilterRequest {
	var request sdk.FilterRequest
	m := wire.NewFields("result", "scope")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "result":
			request.Result = r.Raw()
		case "scope":
			request.Scope = readScope(r)
		default:
			r.Skip()
		}
	}
	return request
}

func readReviewRequest(r *wire.Reader) sdk.ReviewRequest {
	var request sdk.ReviewRequest
	m := wire.NewFields("draft", "evidence", "question")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "draft":
			request.Draft = r.Raw()
		case "evidence":
			request.Evidence = r.Raw()
		case "question":
			request.Question = r.TextOrNull()
		default:
			r.Skip()
		}
	}
	return request
}

func readIdentity(r *wire.Reader) sdk.Identity {
	var identity sdk.Identity
	m := wire.NewFields("user_key", "tenant_key", "user_id", "caller", "purpose", "system_key", "roles", "auth_provider")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "user_key":
			identity.UserKey = r.TextOrNull()
		case "tenant_key":
			identity.TenantKey = r.TextOrNull()
		case "user_id":
			identity.UserID = r.TextOrNull()
		case "caller":
			identity.Caller = r.TextOrNull()
		case "purpose":
			identity.Purpose = r.TextOrNull()
		case "system_key":
			identity.SystemKey = r.TextOrNull()
		case "roles":
			identity.Roles = r.Texts()
		case "auth_provider":
			identity.AuthProvider = r.TextOrNull()
		default:
			r.Skip()
		}
	}
	return identity
}

// readScopePointer reads a scope that may be missing.
func readScopePointer(r *wire.Reader) *sdk.Scope {
	if r.TakeNull() {
		return nil
	}
	scope := readScope(r)
	return &scope
}

func readScope(r *wire.Reader) sdk.Scope {
	var scope sdk.Scope
	m := wire.NewFields("mode", "knowledge_base_ids", "source_item_ids")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "mode":
			scope.Mode = sdk.ScopeMode(r.TextOrNull())
		case "knowledge_base_ids":
			scope.KnowledgeBaseIDs = r.Texts()
		case "source_item_ids":
			scope.SourceItemIDs = r.Texts()
		default:
			r.Skip()
		}
	}
	return scope
}

// moment reads a time as time.Time does.
func moment(r *wire.Reader) time.Time {
	var at time.Time
	if raw := r.Raw(); raw != nil {
		if err := at.UnmarshalJSON(raw); err != nil {
			r.Fail(err)
		}
	}
	return at
}
