package guest

import (
	"errors"
	"time"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// members finds the fields of one object. A host writes each once, in its own spelling; another case is understood
// as encoding/json would, and a field that comes twice is refused: two readers might not take the same one.
type members struct {
	known []string
	seen  uint32
}

// field returns the field that name stands for, or nothing for one that this SDK does not know.
func (m *members) field(r *wire.Reader, name []byte) string {
	i := m.index(name)
	if i < 0 {
		return ""
	}
	if m.seen&(1<<i) != 0 {
		r.Fail(errors.New("the field " + m.known[i] + " stands there twice"))
	}
	m.seen |= 1 << i
	return m.known[i]
}

func (m *members) index(name []byte) int {
	for i, known := range m.known {
		if string(name) == known {
			return i
		}
	}
	for i, known := range m.known {
		if wire.SameName(name, known) {
			return i
		}
	}
	return -1
}

func readCall(r *wire.Reader) sdk.Call {
	var call sdk.Call
	m := members{known: []string{"tool", "args", "identity", "scope", "run_id", "call_id", "deadline"}}
	for name := range r.Members() {
		switch m.field(r, name) {
		case "tool":
			call.Tool = text(r)
		case "args":
			call.Args = r.Raw()
		case "identity":
			call.Identity = readIdentity(r)
		case "scope":
			call.Scope = readScopePointer(r)
		case "run_id":
			call.RunID = text(r)
		case "call_id":
			call.CallID = text(r)
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
	m := members{known: []string{"tool", "server", "raw_name", "args", "identity", "scope", "now", "static"}}
	for name := range r.Members() {
		switch m.field(r, name) {
		case "tool":
			q.Tool = text(r)
		case "server":
			q.Server = text(r)
		case "raw_name":
			q.RawName = text(r)
		case "args":
			q.Args = r.Raw()
		case "identity":
			q.Identity = readIdentity(r)
		case "scope":
			q.Scope = readScopePointer(r)
		case "now":
			q.Now = moment(r)
		case "static":
			q.Static = readOpinion(r)
		default:
			r.Skip()
		}
	}
	return q
}

func readInjectRequest(r *wire.Reader) sdk.InjectRequest {
	var request sdk.InjectRequest
	m := members{known: []string{"tool", "args", "scope", "schema"}}
	for name := range r.Members() {
		switch m.field(r, name) {
		case "tool":
			request.Tool = text(r)
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
	m := members{known: []string{"result", "scope"}}
	for name := range r.Members() {
		switch m.field(r, name) {
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
	m := members{known: []string{"draft", "evidence", "question"}}
	for name := range r.Members() {
		switch m.field(r, name) {
		case "draft":
			request.Draft = r.Raw()
		case "evidence":
			request.Evidence = r.Raw()
		case "question":
			request.Question = text(r)
		default:
			r.Skip()
		}
	}
	return request
}

func readIdentity(r *wire.Reader) sdk.Identity {
	var identity sdk.Identity
	m := members{known: []string{"user_key", "tenant_key", "user_id", "caller", "purpose", "system_key", "roles", "auth_provider"}}
	for name := range r.Members() {
		switch m.field(r, name) {
		case "user_key":
			identity.UserKey = text(r)
		case "tenant_key":
			identity.TenantKey = text(r)
		case "user_id":
			identity.UserID = text(r)
		case "caller":
			identity.Caller = text(r)
		case "purpose":
			identity.Purpose = text(r)
		case "system_key":
			identity.SystemKey = text(r)
		case "roles":
			identity.Roles = r.Texts()
		case "auth_provider":
			identity.AuthProvider = text(r)
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
	m := members{known: []string{"mode", "knowledge_base_ids", "source_item_ids"}}
	for name := range r.Members() {
		switch m.field(r, name) {
		case "mode":
			scope.Mode = sdk.ScopeMode(text(r))
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

func readOpinion(r *wire.Reader) sdk.Opinion {
	var opinion sdk.Opinion
	m := members{known: []string{"action", "reason", "pattern_matched"}}
	for name := range r.Members() {
		switch m.field(r, name) {
		case "action":
			opinion.Action = sdk.Action(text(r))
		case "reason":
			opinion.Reason = text(r)
		case "pattern_matched":
			opinion.PatternMatched = text(r)
		default:
			r.Skip()
		}
	}
	return opinion
}

// text reads a string; null leaves it empty.
func text(r *wire.Reader) string {
	if r.TakeNull() {
		return ""
	}
	return r.Text()
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
