package mcpbridge

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxRounds is how often one call is sent on because the server wants to know more first.
const maxRounds = 5

// inputRequired is the answer of a server, from protocol version 2026-07-28 on, that has not run a call yet and asks
// for something. The call is then sent again with the answers; that repeats nothing, for nothing was done.
type inputRequired struct {
	ResultType    mcp.ResultType             `json:"resultType"`
	InputRequests map[string]json.RawMessage `json:"inputRequests"`
	RequestState  string                     `json:"requestState"`
}

func needsInput(raw json.RawMessage) (inputRequired, bool) {
	var answer inputRequired
	_ = json.Unmarshal(raw, &answer) // what cannot be read is complete, and fails as a result
	return answer, !answer.ResultType.IsComplete()
}

// toAll answers everything a server asks before it goes on. What is not offered cannot be answered.
func (r replies) toAll(asked map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	answers := map[string]json.RawMessage{}
	for name, raw := range asked {
		var request struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(raw, &request); err != nil {
			return nil, fmt.Errorf("%w: %w", errUnreadable, err)
		}
		if request.Method != string(mcp.MethodElicitationCreate) {
			return nil, fmt.Errorf("%w: %s", errNeedsInput, request.Method)
		}
		answers[name] = r.elicit(request.Params)
	}
	return answers, nil
}
