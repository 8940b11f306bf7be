package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// arguments are what any of the tools takes. Unknown ones are ignored, as PSKA does.
type arguments struct {
	Query         string  `json:"query"`
	UserID        string  `json:"user_id"`
	TopK          float64 `json:"top_k"`
	ScopeMode     string  `json:"scope_mode"`
	Scope         scope   `json:"scope"`
	scope                 // the same keys beside the others
	Title         string  `json:"title"`
	Text          string  `json:"text"`
	Channel       string  `json:"channel"`
	KnowledgeBase string  `json:"knowledge_base_id"`
	SourceItem    string  `json:"source_item_id"`
	Action        string  `json:"action"`

	user string // who asks
}

type scope struct {
	KnowledgeBaseIDs idList `json:"knowledge_base_ids"`
	SourceItemIDs    idList `json:"source_item_ids"`
	Mode             string `json:"mode"`
}

// idList reads a list of ids, or one id alone.
type idList []string

// UnmarshalJSON reads a list, a string or null.
func (l *idList) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = nil
		if one != "" {
			*l = idList{one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

const (
	defaultTopK = 5
	maxTopK     = 50
)

// readArguments reads a call. The user is the one the caller vouches for beside the arguments; only without one does
// the argument count.
func readArguments(request mcp.CallToolRequest) (arguments, error) {
	var args arguments
	raw, err := json.Marshal(request.GetRawArguments())
	if err == nil {
		err = json.Unmarshal(raw, &args)
	}
	if err != nil {
		return args, fmt.Errorf("the arguments cannot be read")
	}
	args.user = args.UserID
	if request.Params.Meta != nil {
		if key, _ := request.Params.Meta.AdditionalFields["user_key"].(string); key != "" {
			args.user = key[strings.Index(key, ":")+1:]
		}
	}
	return args, nil
}

// limit is how many results are wanted, within what is allowed.
func (a arguments) limit() int {
	if !(a.TopK >= 1) {
		return defaultTopK
	}
	return int(min(a.TopK, maxTopK))
}

// bounds joins the two places where a scope may stand; what stands beside the query counts first.
func (a arguments) bounds() bounds {
	b := bounds{User: a.user, KnowledgeBases: a.KnowledgeBaseIDs, Sources: a.SourceItemIDs}
	if len(b.KnowledgeBases) == 0 {
		b.KnowledgeBases = a.Scope.KnowledgeBaseIDs
	}
	if len(b.Sources) == 0 {
		b.Sources = a.Scope.SourceItemIDs
	}
	return b
}

func (a arguments) mode() string {
	if a.ScopeMode != "" {
		return a.ScopeMode
	}
	return a.Scope.Mode
}
