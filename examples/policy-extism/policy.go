// Command policy-extism is a policy as an author of Extism plugins writes it: it knows Extism's PDK for Go and JSON, and
// nothing of this project. The host runs it as it is; manifest.json beside it says what it is for.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o plugin.wasm .
//	fastreact plugin inspect --manifest manifest.json plugin.wasm
//
// The load entry names both files, and one digest pins them together: see fastreact.yaml. Any Extism PDK will do: export
// a function named evaluate without parameters that reads the question from the input, sets the output to an opinion,
// and returns 0. Whatever else it does, the host denies the call.
package main

import (
	"encoding/json"
	"fmt"
	"path"
)

type opinion struct {
	Action string `json:"action"`
	Reason string `json:"reason,omitempty"`
}

// judge denies a file that is no note.
func judge(question []byte) (opinion, error) {
	var asked struct {
		Args struct {
			Path string `json:"path"`
		} `json:"args"`
	}
	if err := json.Unmarshal(question, &asked); err != nil {
		return opinion{}, fmt.Errorf("read question: %w", err)
	}
	name := asked.Args.Path
	if kind := path.Ext(name); path.Base(name)[0] == '.' || kind != ".md" && kind != ".txt" {
		return opinion{Action: "deny", Reason: fmt.Sprintf("%q is no note: write .md or .txt files", name)}, nil
	}
	return opinion{Action: "allow"}, nil
}

func main() {} // the host calls evaluate
