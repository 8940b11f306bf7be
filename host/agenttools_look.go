package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// objectReader is the tool that reads one object of a workspace, under its registered name.
const objectReader = "graph_get_node"

// reading is what the object reader answers: a node, or why there is none.
type reading struct {
	Node     json.RawMessage `json:"node"`
	Revision int64           `json:"revision"`
	Error    run.Code        `json:"error"`
}

// errNotRead is why an object could not be looked up.
var errNotRead = errors.New("the object reader did not answer as it should")

// look asks the object reader, through the gate, whether a workspace has an object, and of which revision it is. The
// error of a snapshot that cannot be used carries the reader's code.
func (s *Server) look(ctx context.Context, workspace, objectID string) (revision int64, known bool, err error) {
	args, err := run.Encode(map[string]string{"object_id": objectID})
	if err != nil {
		return 0, false, fmt.Errorf("look up object: %w", err)
	}
	return readingOf(s.gate.Do(ctx, s.gate.Check(ctx, readerCall(workspace, objectReader, args)), nil))
}

// readerCall is a call of a reader that nobody's turn made.
func readerCall(workspace, tool string, args json.RawMessage) run.Call {
	call := run.CallIn(workspace, tool)
	call.Fence.ID, call.ID = run.NewID("look-"), run.NewID("call-")
	call.Tool, call.Args = tool, args
	return call
}

func readingOf(outcome run.CallOutcome) (revision int64, known bool, err error) {
	var answer reading
	if json.Unmarshal([]byte(outcome.Content), &answer) != nil {
		return 0, false, fmt.Errorf("look up object: %w: %s", errNotRead, outcome.Denied)
	}
	switch {
	case answer.Error == "object_unknown":
		return 0, false, nil
	case answer.Error != "":
		return 0, false, &run.Error{Code: answer.Error, Sentence: "The snapshot cannot be read.", Op: "look up object"}
	case outcome.IsError || answer.Node == nil:
		return 0, false, fmt.Errorf("look up object: %w", errNotRead)
	}
	return answer.Revision, true, nil
}
