package gateway

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
)

// maxDepth is how deeply a client's JSON may nest.
const maxDepth = 64

// readObject reads one JSON object that holds no NUL and that every reader reads alike.
func readObject(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	members, err := run.ReadObject(raw, maxDepth)
	return members, err == nil && !run.HasNUL(raw)
}
