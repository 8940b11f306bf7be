// Command guest-go is the policy as a Go plugin.
package main

import (
	"github.com/fastreact/fastreact/host/bench/rules"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

type policy struct{}

func (policy) Evaluate(question sdk.Question) (sdk.Opinion, error) {
	args, err := question.Arguments()
	if err != nil {
		return sdk.Opinion{}, err
	}
	path, err := args.Text("path")
	if err != nil {
		return sdk.Opinion{}, err
	}
	content, err := args.Text("content")
	if err != nil {
		return sdk.Opinion{}, err
	}
	return sdk.Opinion{Action: rules.Judge(question.Tool, path, content, question.Identity.Roles)}, nil
}

func init() { guest.ServePolicy(policy{}) }

func main() {}
