package mcpbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fastreact/fastreact/sdk"
)

// callParams are the params of tools/call. The identity stands beside the arguments and in _meta. The last two answer
// what the server asked when it was called before.
type callParams struct {
	Name           string                     `json:"name"`
	Arguments      json.RawMessage            `json:"arguments"`
	UserKey        *string                    `json:"user_key,omitempty"`
	TenantKey      *string                    `json:"tenant_key,omitempty"`
	Meta           map[string]any             `json:"_meta,omitempty"`
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
	RequestState   string                     `json:"requestState,omitempty"`
}

// metaIdempotencyKey is where a server finds the key that is the same for every try of one call.
const metaIdempotencyKey = "fastreact/idempotency_key"

type listParams struct {
	Cursor string         `json:"cursor,omitempty"`
	Meta   map[string]any `json:"_meta,omitempty"`
}

func newCallParams(raw string, call sdk.Call, forwardIdentity bool) callParams {
	params := callParams{Name: raw, Arguments: call.Args, Meta: map[string]any{}}
	if len(bytes.TrimSpace(call.Args)) == 0 {
		params.Arguments = json.RawMessage("{}")
	}
	if forwardIdentity {
		user, tenant := call.Identity.UserKey, call.Identity.TenantKey
		params.UserKey, params.TenantKey = &user, &tenant
		params.Meta["user_key"], params.Meta["tenant_key"] = user, tenant
	}
	if call.IdempotencyKey != "" {
		params.Meta[metaIdempotencyKey] = call.IdempotencyKey
	}
	return params
}

func clientInfo() mcp.Implementation {
	return mcp.Implementation{Name: "fastreact", Version: "1"}
}

// perRequestMeta is what protocol versions without a handshake want in every request; nil for the others.
func (s *session) perRequestMeta() map[string]any {
	version := s.version
	if !mcp.IsModernProtocol(version) {
		return nil
	}
	return map[string]any{
		mcp.MetaKeyProtocolVersion:    version,
		mcp.MetaKeyClientCapabilities: s.replies.capabilities(),
		mcp.MetaKeyClientInfo:         clientInfo(),
	}
}

// perRequestHeaders are the HTTP headers that mirror a request for those versions; nil for the others.
func perRequestHeaders(version, method string, params json.RawMessage) http.Header {
	if !mcp.IsModernProtocol(version) {
		return nil
	}
	header := http.Header{}
	for name, value := range mcp.StandardHeaders(version, mcp.MCPMethod(method), params) {
		header.Set(name, value)
	}
	return header
}

// encode writes JSON on one line without changing a character of strings it holds.
func encode(value any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return bytes.TrimRight(buffer.Bytes(), "\n"), nil
}
