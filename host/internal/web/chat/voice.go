package chat

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
)

// chatVoice tells a run in the words of the chat stream.
type chatVoice struct {
	script  script
	reading reading
}

func (v *chatVoice) begin(r run.Run) error {
	if err := v.script.metadata(metadata{r.SessionID, r.ID}); err != nil {
		return err
	}
	return v.script.status(routing)
}

func (v *chatVoice) tell(e run.Event) (over bool, err error) {
	switch e.Kind {
	case run.SessionEnd:
		answer, err := readContent(e.Content)
		if err != nil {
			return true, v.script.fail(internalFailure)
		}
		return true, v.script.release(answer)
	case run.Errored:
		return true, v.script.fail(failureOf(codeOf(e)))
	}
	if code := v.reading.status(e); code != "" {
		return false, v.script.status(code)
	}
	return false, nil
}

func (v *chatVoice) fail(reason error) error {
	code, _ := run.Public(reason)
	return v.script.fail(failureOf(code))
}

func (v *chatVoice) keepAlive() error { return v.script.keepAlive() }
func (v *chatVoice) leave()           { v.script.leave() }

// reading is how far a run has come, as its events say.
type reading struct {
	open map[string]bool // calls without a result, by id
}

// status is what an event that does not end a run means; empty: nothing that is told.
func (r *reading) status(e run.Event) statusCode {
	switch e.Kind {
	case run.SessionStart:
		if said(e, "profile") == diagnosisProfile {
			return planning
		}
	case run.ToolCalled:
		if r.open == nil {
			r.open = map[string]bool{}
		}
		r.open[e.ToolCallID] = true
		return collecting
	case run.ToolResult:
		delete(r.open, e.ToolCallID)
		if len(r.open) == 0 {
			return analyzing
		}
	case run.AnswerReview:
		return reviewStatus(said(e, "stage"))
	}
	return ""
}

// reviewStatus is the status of a stage of an answer's review.
func reviewStatus(stage string) statusCode {
	switch stage {
	case "verifying":
		return verifying
	case "repairing":
		return repairing
	}
	return ""
}

// failureOf is what a client is told of a run's failure.
func failureOf(code run.Code) failureCode {
	switch code {
	case run.CodeRouting:
		return routingFailed
	case run.CodeModelUnavailable, run.CodeModelTimeout, run.CodeModelProtocol, run.CodeModelRefused:
		return modelUnavailable
	case run.CodeModelSaturated:
		return modelSaturated
	case run.CodeBudget, run.CodeContextTooLarge:
		return budgetExhausted
	case run.CodeTimeout:
		return timedOut
	case run.CodeStore:
		return storeUnavailable
	}
	return internalFailure
}

// codeOf is the code of the failure that ended a run.
func codeOf(e run.Event) run.Code { return run.Code(said(e, "code")) }

// said returns a word of an event's public metadata; empty where there is none.
func said(e run.Event, key string) string {
	var words map[string]json.RawMessage
	if json.Unmarshal(e.Metadata, &words) != nil {
		return ""
	}
	var word string
	if json.Unmarshal(words[key], &word) != nil {
		return ""
	}
	return word
}
