package fastreact

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// Bounds of one export, in records. exportPage is how many are read at a time.
const (
	defaultExport = 1000
	maxExport     = 10000
	exportPage    = 200
)

// wireAudit is one line of an export.
type wireAudit struct {
	Schema       string          `json:"schema"`
	Sequence     int64           `json:"sequence"`
	At           string          `json:"timestamp"`
	Stage        string          `json:"stage"`
	RunID        string          `json:"run_id"`
	TenantKey    *string         `json:"tenant_key"`
	UserKey      *string         `json:"user_key"`
	ToolCallID   string          `json:"tool_call_id"`
	ToolName     string          `json:"tool_name"`
	ToolDigest   *string         `json:"tool_digest"`
	ArgsDigest   *string         `json:"args_digest"`
	Decision     json.RawMessage `json:"decision"`
	ApprovalID   *string         `json:"approval_request_id"`
	Dispatched   bool            `json:"dispatched"`
	IsError      bool            `json:"is_error"`
	ResultDigest *string         `json:"result_digest"`
	DurationMS   *float64        `json:"duration_ms"`
	Gas          *int64          `json:"gas"` // outcome: the tool's plugin and the scope filter; decision: see its plugins
}

func toAudit(a run.Audit) (wireAudit, error) {
	decision, err := redact(a.Decision)
	if err != nil {
		return wireAudit{}, fmt.Errorf("export audit record %d: %w", a.Sequence, err)
	}
	wire := wireAudit{
		Schema: "fastreact.audit.v1", Sequence: a.Sequence, At: stamp(a.At), Stage: string(a.Stage), RunID: a.Run.ID,
		TenantKey: orNull(string(a.Run.Tenant)), UserKey: orNull(a.UserKey), ToolCallID: a.CallID, ToolName: a.Tool,
		ToolDigest: orNull(a.ToolDigest), ArgsDigest: orNull(a.ArgsDigest), Decision: decision,
		ApprovalID: orNull(a.ApprovalID), Dispatched: a.Dispatched, IsError: a.IsError,
		ResultDigest: orNull(a.ResultDigest),
	}
	if a.Stage == run.Ended {
		wire.DurationMS, wire.Gas = milliseconds(a.Duration), &a.Gas
	}
	return wire, nil
}

// exportAudit streams audit records, one JSON object a line, in order. A reader goes on after the last sequence it has;
// an empty answer is the end.
func (f *face) exportAudit(x *web.Exchange) error {
	query := x.Request.URL.Query()
	after, err := numberOf(query, "after", 0)
	if err != nil {
		return err
	}
	limit, err := numberOf(query, "limit", defaultExport)
	if err != nil {
		return err
	}
	if limit == 0 || limit > maxExport {
		limit = maxExport
	}
	lines := x.Lines()
	for limit > 0 {
		page, err := f.cfg.Administration.Audits(x.Request.Context(), after, int(min(limit, exportPage)))
		if err != nil {
			return err
		}
		for _, a := range page {
			if err := sendAudit(lines, a); err != nil {
				return gone(x.Request.Context(), err)
			}
			after = a.Sequence
		}
		if limit -= int64(len(page)); len(page) < exportPage {
			break
		}
	}
	return lines.End()
}

func sendAudit(lines *web.Lines, a run.Audit) error {
	wire, err := toAudit(a)
	if err != nil {
		return err
	}
	return lines.Send(wire)
}

// redact takes the values of secret keys out of a JSON value, by the key's exact name.
func redact(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return json.RawMessage("null"), nil
	}
	value, err := run.Decode(raw)
	if err != nil {
		return nil, err
	}
	redactIn(value)
	return run.Encode(value)
}

func redactIn(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			redactIn(item)
		}
	case map[string]any:
		for key, inner := range value {
			if secretKey(key) {
				value[key] = web.Redacted
				continue
			}
			redactIn(inner)
		}
	}
}

func secretKey(key string) bool {
	switch strings.ToLower(key) {
	case "api_key", "apikey", "token", "password", "secret", "authorization", "cookie", "pat":
		return true
	}
	return false
}
