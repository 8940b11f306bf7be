package research

import (
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// The codes of what a desk refuses, as they stand on the wire. The face gives each its status.
const (
	CodeInvalid     run.Code = "research_invalid"              // the request itself is wrong
	CodeRefused     run.Code = "research_refused"              // the rules of the plan are against it
	CodeLimit       run.Code = "research_limit"                // the plan has no room for more
	CodeConflict    run.Code = "research_idempotency_conflict" // the key belongs to another request
	CodeUnavailable run.Code = "research_unavailable"          // the workspace's graph cannot be read
	CodeNoWorkspace run.Code = "workspace_none"                // no workspace was named
)

// Codes lists every code; the face proves against it that it gives each a status.
func Codes() []run.Code {
	return []run.Code{CodeInvalid, CodeRefused, CodeLimit, CodeConflict, CodeUnavailable, CodeNoWorkspace}
}

// errUnknownObject is the cause of a plan for an object that the workspace does not have.
var errUnknownObject = errors.New("object is not in the graph")

// errDamaged is the cause when entries do not fit together.
var errDamaged = errors.New("research entries do not fit together")

// refuse makes the error of a code. Its sentence is public and says nothing of what was sent.
func refuse(code run.Code, sentence string) error {
	return &run.Error{Code: code, Sentence: sentence, Op: "research"}
}

func invalid(sentence string) error { return refuse(CodeInvalid, sentence) }
func refused(sentence string) error { return refuse(CodeRefused, sentence) }
func damaged(what string) error     { return fmt.Errorf("%w: %s", errDamaged, what) }
