package mcpbridge

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// What a server is answered that asks a person something in the middle of a call. No person is there, so that an
// answer never counts as an approval unless the configuration says so.
const (
	elicitDecline  = "decline"
	elicitCancel   = "cancel"
	elicitDefaults = "accept_defaults"
)

// maxAnswerBytes bounds what is sent back to a server that asks.
const maxAnswerBytes = 64 << 10

// replies answers the requests of one server. It holds nothing of any user: each answer follows from the question and
// the configuration alone.
type replies struct{ elicitation string }

// capabilities are what the client declares. A server learns that it may ask only where asking can help.
func (r replies) capabilities() mcp.ClientCapabilities {
	var declared mcp.ClientCapabilities
	if r.elicitation == elicitDefaults || r.elicitation == elicitCancel {
		declared.Elicitation = &mcp.ElicitationCapability{Form: &struct{}{}}
	}
	return declared
}

// to answers one request. Sampling and roots are not offered and refused, as is everything unknown.
func (r replies) to(id mcp.RequestId, method string, params json.RawMessage) *transport.JSONRPCResponse {
	switch method {
	case string(mcp.MethodPing):
		return transport.NewJSONRPCResultResponse(id, json.RawMessage("{}"))
	case string(mcp.MethodElicitationCreate):
		return transport.NewJSONRPCResultResponse(id, r.elicit(params))
	}
	return transport.NewJSONRPCErrorResponse(id, mcp.METHOD_NOT_FOUND, "not offered by this client", nil)
}

// elicit answers a question for a person.
func (r replies) elicit(params json.RawMessage) json.RawMessage {
	switch r.elicitation {
	case elicitCancel:
		return json.RawMessage(`{"action":"cancel"}`)
	case elicitDefaults:
		if content, filled := defaultsOf(params); filled {
			return content
		}
	}
	return json.RawMessage(`{"action":"decline"}`)
}

// question is what a server asks. A question in url mode sends a person to a web page; it has no schema.
type question struct {
	Mode            string `json:"mode"`
	RequestedSchema struct {
		Properties map[string]struct {
			Type    string          `json:"type"`
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
		Required []string `json:"required"`
	} `json:"requestedSchema"`
}

// defaultsOf accepts a question with the defaults of its own schema. It reports false when they do not answer it: a
// question in url mode, one without any default, a bare "are you sure?" among them, or one that requires more.
func defaultsOf(params json.RawMessage) (json.RawMessage, bool) {
	var asked question
	if json.Unmarshal(params, &asked) != nil || asked.Mode != "" && asked.Mode != "form" {
		return nil, false
	}
	content := map[string]json.RawMessage{}
	for name, property := range asked.RequestedSchema.Properties {
		if given(property.Default) && fits(property.Type, property.Default) {
			content[name] = property.Default
		}
	}
	for _, name := range asked.RequestedSchema.Required {
		if _, answered := content[name]; !answered {
			return nil, false
		}
	}
	answer, err := encode(map[string]any{"action": "accept", "content": content})
	return answer, err == nil && len(content) > 0 && len(answer) <= maxAnswerBytes
}

// fits reports whether a value is of a schema's type.
func fits(kind string, value json.RawMessage) bool {
	var decoded any
	if json.Unmarshal(value, &decoded) != nil {
		return false
	}
	switch decoded := decoded.(type) {
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && decoded == float64(int64(decoded))
	case []any:
		return kind == "array"
	}
	return false
}
