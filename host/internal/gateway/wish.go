package gateway

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// wish is a request that was looked at whole: it could be executed as it is.
type wish struct {
	turnID      string // as it was written
	tool        tool
	input       json.RawMessage // canonical
	refs        []string
	key         string // as it was written; empty: of the deterministic agent's own
	fingerprint string
	workspace   string // empty: the active one, whichever it is
}

// readRequest validates a request. Nothing is looked up, told or executed before.
func readRequest(request Request) (wish, error) {
	tool, known := toolOf(request.ToolID)
	switch {
	case !run.IsUUID(request.TurnID):
		return wish{}, invalid("turn_id must be a UUID.")
	case !run.IsKey(request.Key):
		return wish{}, invalid("idempotency_key must be 1 to 128 bytes of printable text.")
	case !known:
		return wish{}, invalid("The catalogue has no such tool.")
	case !areObjectIDs(request.ObjectRefs):
		return wish{}, invalid("object_refs must be at most 64 references to objects.")
	}
	members, readable := readObject(request.Input)
	if !readable || !takes(tool.input, members) {
		return wish{}, invalid("The input does not fit the tool's schema.")
	}
	if !isAbsent(request.Context) {
		if _, readable := readObject(request.Context); !readable {
			return wish{}, invalid("context must be an object or null.")
		}
	}
	return newWish(request, tool)
}

// newWish makes a wish of parts that were validated.
func newWish(request Request, tool tool) (wish, error) {
	input, err := run.Canonical(request.Input)
	if err != nil {
		return wish{}, invalid("The input does not fit the tool's schema.")
	}
	context := json.RawMessage("null")
	if !isAbsent(request.Context) {
		if context, err = run.Canonical(request.Context); err != nil {
			return wish{}, invalid("context must be an object or null.")
		}
	}
	w := wish{
		turnID: request.TurnID, tool: tool, input: input, refs: append([]string{}, request.ObjectRefs...),
		key: request.Key, workspace: request.Workspace,
	}
	intention, err := run.Encode([]any{strings.ToLower(w.turnID), tool.id, input, w.refs, context})
	if err != nil {
		return wish{}, invalid("The call cannot be read.")
	}
	w.fingerprint = run.Digest(intention)
	return w, nil
}

func areObjectIDs(refs []string) bool {
	for _, ref := range refs {
		if !run.IsObjectID(ref) {
			return false
		}
	}
	return len(refs) <= maxRefs
}

// isAbsent reports whether JSON is null or not there.
func isAbsent(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}
