package sdk

import "encoding/json"

// ScopeMode says how a scope binds results. Hard also filters results, soft bounds arguments only.
type ScopeMode string

// The two scope modes.
const (
	Hard ScopeMode = "hard"
	Soft ScopeMode = "soft"
)

// Scope is the caller's corpus boundary: "the model cannot widen the selected KB/source scope". A nil list means
// that its dimension is not bounded; a list that is given is never empty.
type Scope struct {
	Mode             ScopeMode `json:"mode"`
	KnowledgeBaseIDs []string  `json:"knowledge_base_ids,omitempty"`
	SourceItemIDs    []string  `json:"source_item_ids,omitempty"`
}

// InjectRequest asks a scope plugin to put the scope into a call's arguments.
type InjectRequest struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Scope  Scope           `json:"scope"`
	Schema json.RawMessage `json:"schema,omitempty"` // the tool's input schema
}

// Injection is the answer: the bounded arguments, whether the scope was applied, and the keys that were narrowed
// because the model had asked for more. Empty reports that nothing of what was asked lies inside the scope; such a
// call is answered locally and never sent.
type Injection struct {
	Args       json.RawMessage `json:"args"`
	Applied    bool            `json:"applied"`
	Narrowed   []string        `json:"narrowed"`
	Empty      bool            `json:"empty,omitempty"`
	Unverified []string        `json:"unverified,omitempty"` // ids present that cannot be checked against the scope
}

// FilterRequest asks a scope plugin to drop result entries outside a hard scope.
type FilterRequest struct {
	Result json.RawMessage `json:"result"` // the tool's JSON result
	Scope  Scope           `json:"scope"`
}

// Filtering is the answer. When Removed is zero, Result is byte for byte the result that was given.
type Filtering struct {
	Result  json.RawMessage `json:"result"`
	Removed int             `json:"removed"`
}
