// Command policy-only-notes is a first policy plugin: what the model writes is a note, never a hidden file or a script.
package main

import (
	"encoding/json"
	"fmt"
	"path"

	"github.com/fastreact/fastreact/sdk"
)

// policy is pure: the same question gets the same opinion.
type policy struct{}

// Evaluate denies a file that is no note. Allowing cannot loosen what the configuration's rules say.
func (policy) Evaluate(question sdk.Question) (sdk.Opinion, error) {
	var args struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal(question.Args, &args); err != nil {
		return sdk.Opinion{}, fmt.Errorf("read arguments: %w", err) // the host denies the call
	}
	if kind := path.Ext(args.Path); path.Base(args.Path)[0] == '.' || kind != ".md" && kind != ".txt" {
		return sdk.Opinion{Action: sdk.Deny, Reason: fmt.Sprintf("%q is no note: write .md or .txt files", args.Path)}, nil
	}
	return sdk.Opinion{Action: sdk.Allow}, nil
}

func main() {} // the host calls Evaluate
