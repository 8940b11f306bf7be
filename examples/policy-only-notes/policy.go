// Command policy-only-notes is a first policy plugin: what the model writes is a note, never a hidden file or a script.
package main

import (
	"path"
	"strconv"

	"github.com/fastreact/fastreact/sdk"
)

// policy is pure: the same question gets the same opinion.
type policy struct{}

// Evaluate denies a file that is no note. Allowing cannot loosen what the configuration's rules say.
func (policy) Evaluate(question sdk.Question) (sdk.Opinion, error) {
	args, err := question.Arguments()
	if err != nil {
		return sdk.Opinion{}, err // the host denies the call
	}
	file, err := args.Text("path")
	if err != nil {
		return sdk.Opinion{}, err
	}
	if kind := path.Ext(file); path.Base(file)[0] == '.' || kind != ".md" && kind != ".txt" {
		return sdk.Opinion{Action: sdk.Deny, Reason: strconv.Quote(file) + " is no note: write .md or .txt files"}, nil
	}
	return sdk.Opinion{Action: sdk.Allow}, nil
}

func main() {} // the host calls Evaluate
