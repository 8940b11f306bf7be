package model

import "strings"

const (
	maxCalls     = 128 // tool calls in one message
	maxModelName = 256 // bytes of a tool name the model wrote
)

// callParts is one tool call while its pieces arrive.
type callParts struct {
	index     *int
	id        string
	name      string
	arguments strings.Builder
}

// place finds the call a piece belongs to, or starts one. Pieces carry an index, or an id, or neither; some vendors
// give the same index to every call of a message, so a new id together with a name starts a call too.
func (h *hearing) place(piece callDelta) *callParts {
	found := h.find(piece)
	if found == nil {
		found = &callParts{index: piece.Index}
		h.calls = append(h.calls, found)
	}
	return found
}

func (h *hearing) find(piece callDelta) *callParts {
	for i := len(h.calls) - 1; i >= 0; i-- {
		if h.calls[i].owns(piece) {
			return h.calls[i]
		}
	}
	if piece.Index == nil && piece.ID == "" && piece.Function.Name == "" && len(h.calls) > 0 {
		return h.calls[len(h.calls)-1]
	}
	return nil
}

func (c *callParts) owns(piece callDelta) bool {
	id := string(piece.ID)
	if piece.Index != nil {
		another := id != "" && c.id != "" && id != c.id && piece.Function.Name != ""
		return c.index != nil && *c.index == *piece.Index && !another
	}
	return id != "" && id == c.id
}

func (c *callParts) add(piece callDelta) {
	if c.id == "" {
		c.id = string(piece.ID)
	}
	if piece.Function.Name != c.name {
		c.name += piece.Function.Name
	}
	c.arguments.WriteString(string(piece.Function.Arguments))
}
