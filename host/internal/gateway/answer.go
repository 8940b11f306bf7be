package gateway

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
)

// answer is what a tool said, as data. Only references in the form of an object's id are taken out of it.
type answer struct {
	output     json.RawMessage // canonical
	refs       []string
	provenance []string
	planID     string // of prepared research
}

// readAnswer reads a tool's text, which must be one JSON object.
func readAnswer(content string) (answer, bool) {
	value, err := run.Decode([]byte(content))
	members, isObject := value.(map[string]any)
	if err != nil || !isObject {
		return answer{}, false
	}
	output, err := run.Encode(members)
	if err != nil {
		return answer{}, false
	}
	a := answer{output: output, refs: objectIDs(members["object_refs"]), provenance: objectIDs(members["provenance_refs"])}
	a.planID, _ = members["plan_id"].(string)
	return a, true
}

// objectIDs reads a list of references. What is none, and what comes after the 64th, is left out.
func objectIDs(value any) []string {
	ids := []string{}
	list, _ := value.([]any)
	for _, one := range list {
		ref, _ := one.(map[string]any)
		if id, _ := ref["object_id"].(string); run.IsObjectID(id) && len(ids) < maxRefs {
			ids = append(ids, id)
		}
	}
	return ids
}

// failureOf reads the code that a tool failed with. A tool that was interrupted could not give one, and words that are
// no code are nobody's business.
func failureOf(content string, interrupted trouble) trouble {
	var said struct {
		Error trouble `json:"error"`
	}
	switch {
	case json.Unmarshal([]byte(content), &said) == nil && said.Error != "":
		return said.Error
	case interrupted != "":
		return interrupted
	}
	return toolFailed
}
