package fastreact

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

const noApproval = "Approval request not found"

// wireApproval is the record of one call that waits for a person, or did.
type wireApproval struct {
	RequestID        string          `json:"request_id"`
	RunID            string          `json:"run_id"`
	SessionID        string          `json:"session_id"`
	UserKey          *string         `json:"user_key"`
	TenantKey        *string         `json:"tenant_key"`
	ToolName         string          `json:"tool_name"`
	ToolArgs         json.RawMessage `json:"tool_args"`
	ArgsDigest       string          `json:"args_digest"`
	Reason           string          `json:"reason"`
	DecisionLevel    string          `json:"decision_level"`
	PolicyScope      *string         `json:"policy_scope"`
	PolicyAction     *string         `json:"policy_action"`
	PolicyMatched    bool            `json:"policy_matched"`
	Status           string          `json:"status"`
	Approved         bool            `json:"approved"`
	Expired          bool            `json:"expired"`
	TimeoutSeconds   float64         `json:"timeout_seconds"`
	CreatedAt        string          `json:"created_at"`
	ExpiresAt        string          `json:"expires_at"`
	ResolvedAt       *string         `json:"resolved_at"`
	ResolvedBy       *string         `json:"resolved_by"`
	ResolutionReason *string         `json:"resolution_reason"`
	ApprovalID       string          `json:"approval_request_id"`
	ToolCallID       string          `json:"tool_call_id"`
	Kind             string          `json:"kind"`
	Choices          []run.Choice    `json:"choices,omitempty"` // only where one must be made
	Choice           *string         `json:"choice"`
}

func toApproval(a run.Approval) wireApproval {
	return wireApproval{
		RequestID: a.ID, RunID: a.Run.ID, SessionID: a.SessionID, UserKey: orNull(a.UserKey),
		TenantKey: orNull(string(a.Run.Tenant)), ToolName: a.ToolName, ToolArgs: orObject(a.Args),
		ArgsDigest: a.ArgsDigest, Reason: a.Reason, DecisionLevel: string(a.Decision.Level()),
		PolicyScope: orNull(a.Decision.PolicyScope), PolicyAction: orNull(string(a.Decision.PolicyAction)),
		PolicyMatched: a.Decision.PolicyMatched, Status: string(a.Status), Approved: a.Status == run.Approved,
		Expired: a.Status == run.Expired, TimeoutSeconds: a.Timeout.Seconds(), CreatedAt: stamp(a.CreatedAt),
		ExpiresAt: stamp(a.ExpiresAt), ResolvedAt: stampOrNull(a.ResolvedAt), ResolvedBy: orNull(a.ResolvedBy),
		ResolutionReason: orNull(a.Resolution), ApprovalID: a.ID, ToolCallID: a.ToolCallID,
		Kind: kindOf(a), Choices: choicesOf(a), Choice: orNull(string(a.Choice)),
	}
}

// kindOf says what the person is asked: whether a call may run, or what to do about one of which nobody knows whether it
// took effect.
func kindOf(a run.Approval) string {
	if a.Kind == run.Permission {
		return "permission"
	}
	return string(a.Kind)
}

func choicesOf(a run.Approval) []run.Choice {
	if a.Kind == run.UnknownOutcome {
		return run.Choices()
	}
	return nil
}

type approvalList struct {
	Schema       string         `json:"schema"`
	Approvals    []wireApproval `json:"approvals"`
	Count        int            `json:"count"`
	TotalCount   int            `json:"total_count"`
	Limit        int            `json:"limit"`
	Offset       int            `json:"offset"`
	Order        string         `json:"order"`
	NextOffset   *int           `json:"next_offset"`
	HasMore      bool           `json:"has_more"`
	PendingCount int            `json:"pending_count"`
}

func (f *face) listApprovals(x *web.Exchange) error {
	filter, order, err := approvalFilter(x.Request.URL.Query())
	if err != nil {
		return err
	}
	seen, err := x.View()
	if err != nil {
		return err
	}
	filter.Tenant, filter.UserKey = seen.Tenant, seen.User
	page, err := f.cfg.Desk.List(x.Request.Context(), filter)
	if err != nil {
		return err
	}
	pending, err := f.countPending(x, filter)
	if err != nil {
		return err
	}
	list := approvalList{
		Schema: "fastreact.approvals.v1", Approvals: []wireApproval{}, Count: len(page.Items), TotalCount: page.Total,
		Limit: filter.Limit, Offset: filter.Offset, Order: order, PendingCount: pending,
	}
	if next := filter.Offset + len(page.Items); len(page.Items) > 0 && next < page.Total {
		list.HasMore, list.NextOffset = true, &next
	}
	for _, a := range page.Items {
		list.Approvals = append(list.Approvals, toApproval(a))
	}
	return x.JSON(http.StatusOK, list)
}

// countPending counts the pending ones among all that the filter selects.
func (f *face) countPending(x *web.Exchange, filter run.ApprovalFilter) (int, error) {
	if filter.Status != "" && filter.Status != run.Pending {
		return 0, nil
	}
	filter.Status, filter.Limit, filter.Offset = run.Pending, 1, 0 // without a limit all of them would be read
	page, err := f.cfg.Desk.List(x.Request.Context(), filter)
	return page.Total, err
}

func approvalFilter(query url.Values) (filter run.ApprovalFilter, order string, err error) {
	limit, err := limitOf(query)
	if err != nil {
		return filter, "", err
	}
	offset, err := numberOf(query, "offset", 0)
	if err != nil {
		return filter, "", err
	}
	status, err := wordOf(query, "status", func(word string) bool { return run.ApprovalStatus(word).Valid() })
	if err != nil {
		return filter, "", err
	}
	order = query.Get("order")
	switch order {
	case "":
		order = "desc"
	case "asc", "desc":
	default:
		return filter, "", web.BadRequest("invalid_order", "order must be 'asc' or 'desc'.")
	}
	return run.ApprovalFilter{
		Status: run.ApprovalStatus(status), SessionID: query.Get("session_id"), RunID: query.Get("run_id"),
		ToolName: query.Get("tool_name"), Oldest: order == "asc", Limit: limit, Offset: int(offset),
	}, order, nil
}

type approvalBody struct {
	Approval wireApproval `json:"approval"`
}

// lookUpApproval finds the approval of the path. One outside the caller's view is not there.
func (f *face) lookUpApproval(x *web.Exchange) (run.Approval, error) {
	seen, err := x.View()
	if err != nil {
		return run.Approval{}, err
	}
	a, err := f.cfg.Desk.Get(x.Request.Context(), x.Var("request_id"))
	if err != nil {
		return run.Approval{}, missing(err, noApproval)
	}
	if !seen.Shows(a.Run.Tenant, a.UserKey) {
		return run.Approval{}, notFound(noApproval)
	}
	return a, nil
}

func (f *face) getApproval(x *web.Exchange) error {
	a, err := f.lookUpApproval(x)
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, approvalBody{toApproval(a)})
}

type resolutionBody struct {
	RequestID string       `json:"request_id"`
	Status    string       `json:"status"`
	Approved  bool         `json:"approved"`
	Approval  wireApproval `json:"approval"`
}

func (f *face) approve(x *web.Exchange) error { return f.settle(x, approving) }
func (f *face) deny(x *web.Exchange) error    { return f.settle(x, denying) }

// settle answers an approval. The answer is whatever the desk says the record now is.
func (f *face) settle(x *web.Exchange, how operation) error {
	object, err := x.Object()
	if err != nil {
		return err
	}
	answer, err := readAnswer(object, how)
	if err != nil {
		return err
	}
	a, err := f.lookUpApproval(x)
	if err != nil {
		return err
	}
	if !f.cfg.SelfApproval && x.Caller.IsUser() && x.Caller.UserKey == a.UserKey {
		return &web.Refusal{
			Status: http.StatusForbidden, Code: "self_approval_disabled",
			Sentence: "Somebody else must answer this approval request.",
		}
	}
	answer.ID, answer.By = a.ID, answerer(x)
	answer.Idempotency, err = readChangeKey(x.Request.Header, how, a.Run.Tenant, a.ID, object)
	if err != nil {
		return err
	}
	a, err = f.cfg.Desk.Answer(x.Request.Context(), answer)
	if err != nil {
		return missing(err, noApproval)
	}
	wire := toApproval(a)
	return x.JSON(http.StatusOK, resolutionBody{wire.RequestID, wire.Status, wire.Approved, wire})
}

// readAnswer reads an optional body. Whether there is a choice to make is the desk's to say; to refuse a call and to go
// on with it at once is none.
func readAnswer(object map[string]any, how operation) (run.Answer, error) {
	fields := web.NewFields(object)
	answer := run.Answer{Approve: how == approving, Reason: fields.Text("reason", maxReason)}
	offered := []string{string(run.Abort)}
	if answer.Approve {
		offered = []string{string(run.Retry), string(run.TreatAsDone), string(run.Abort)}
	}
	answer.Choice = run.Choice(fields.OneOf("choice", offered...))
	return answer, fields.Err()
}

// answerer names who answers: the user that the caller is or speaks for, else how the caller proved itself, else nobody.
func answerer(x *web.Exchange) string {
	user := x.Request.Header.Get(web.UserHeader)
	switch {
	case x.Caller.IsUser():
		return x.Caller.UserKey
	case user != "" && len(user) <= maxKey && web.Printable(user):
		return user
	case x.Caller.Provider == string(web.AuthNone):
		return ""
	}
	return x.Caller.Provider
}
