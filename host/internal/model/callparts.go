package model

import (
	"fmt"
	"strings"
)

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

// piece adds a piece to the call it belongs to, or starts one. Pieces carry an index, or an id, or neither; some
// vendors give the same index to every call of a message, so a new id together with a name starts a call too. What
// is too much is refused here and not at the end: the cost of looking a call up grows with their number.
func (h *hearing) piece(piece callDelta) error {
	found := h.find(piece)
	if found == nil {
		if len(h.calls) == maxCalls {
			return &unusableError{fmt.Sprintf("more than %d tool calls in one message", maxCalls)}
		}
		found = &callParts{index: piece.Index}
		h.calls = append(h.calls, found)
	}
	found.add(piece)
	if len(found.name) > maxModelName {
		return &unusableError{fmt.Sprintf("a tool name longer than %d bytes", maxModelName)}
	}
	return nil
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
