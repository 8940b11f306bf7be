package gate

import (
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
)

// argumentIssue is what a model reads instead of a result when its arguments cannot be run.
type argumentIssue struct {
	Type      string   `json:"type"`
	ErrorCode string   `json:"error_code"`
	ToolName  string   `json:"tool_name"`
	Problem   string   `json:"validation_error"`
	Missing   []string `json:"missing_required"`
	Retry     retry    `json:"retry"`
}

type retry struct {
	Recommended bool   `json:"recommended"`
	Hint        string `json:"hint"`
}

// invalidArguments refuses a call whose arguments cannot be run, in a form that tells the model how to go on.
func invalidArguments(tool string, issue *policy.ArgumentIssue) *refusal {
	text := mustJSON(argumentIssue{
		Type: "tool_argument_issue", ErrorCode: string(run.DeniedInvalidArgs), ToolName: tool,
		Problem: issue.Problem, Missing: append([]string{}, issue.Missing...),
		Retry: retry{true, "Call the tool again with one JSON object that fits its parameters."},
	})
	return &refusal{code: run.DeniedInvalidArgs, reason: issue.Problem, text: text}
}

// mustJSON encodes values that the gate built itself; failing is a bug.
func mustJSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("gate: encode own value: %v", err))
	}
	return string(raw)
}
