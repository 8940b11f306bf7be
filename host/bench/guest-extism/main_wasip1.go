// Command guest-extism is the policy as a plugin made with Extism's own kit.
package main

import (
	"encoding/json"

	"github.com/extism/go-pdk"

	"github.com/fastreact/fastreact/host/bench/rules"
	"github.com/fastreact/fastreact/sdk"
)

//go:wasmexport evaluate
func evaluate() int32 {
	var q sdk.Question
	var args struct{ Path, Content string }
	if json.Unmarshal(pdk.Input(), &q) != nil || json.Unmarshal(q.Args, &args) != nil {
		return 1
	}
	answer, err := json.Marshal(sdk.Opinion{Action: rules.Judge(q.Tool, args.Path, args.Content, q.Identity.Roles)})
	if err != nil {
		return 1
	}
	pdk.Output(answer)
	return 0
}

func main() {}
