package client

import "encoding/json"

// Request is a question. Messages needs a user message with text; everything else may be left out.
type Request struct {
	Messages     []Message       `json:"messages"`
	Model        string          `json:"model,omitempty"`
	Temperature  *float64        `json:"temperature,omitempty"`
	TopP         *float64        `json:"top_p,omitempty"`
	MaxTokens    *int            `json:"max_tokens,omitempty"`
	SessionID    string          `json:"session_id,omitempty"`
	UserKey      string          `json:"user_key,omitempty"`
	Skills       *[]string       `json:"skills,omitempty"` // nil = automatic, empty = none
	ToolPolicy   *ToolPolicy     `json:"tool_policy,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`      // a JSON object
	OnDisconnect string          `json:"on_disconnect,omitempty"` // cancel or continue
	Multitask    string          `json:"multitask,omitempty"`     // beside another run of the session: parallel, reject, enqueue or interrupt
	StreamDeltas bool            `json:"stream_deltas,omitempty"` // the answer also comes in parts: events of type answer_delta

	IdempotencyKey string `json:"-"` // the same key and request get the same run; with one, Submit and Complete survive a lost answer
}

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// ToolPolicy bounds the tools of one run.
type ToolPolicy struct {
	Mode         string   `json:"mode,omitempty"` // none, allowlist, or empty for no bound
	AllowedTools []string `json:"allowed_tools,omitempty"`
	Scope        *Scope   `json:"scope,omitempty"`
}

// Scope bounds the corpus of one run.
type Scope struct {
	Mode             string   `json:"mode,omitempty"` // hard or soft
	KnowledgeBaseIDs []string `json:"knowledge_base_ids,omitempty"`
	SourceItemIDs    []string `json:"source_item_ids,omitempty"`
}

// Ask returns a request with one user message.
func Ask(question string) Request {
	return Request{Messages: []Message{{Role: "user", Content: question}}}
}

// asked is a request with the form of its answer.
type asked struct {
	Request
	Stream bool `json:"stream"`
}
