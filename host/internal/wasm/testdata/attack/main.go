// The module is a tool for tests. It tries to reach what lies beside its folder /w, and to do honest work inside.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

type tool struct{}

// attempt is one try. reached is true when it got at something outside.
type attempt struct {
	Name    string `json:"name"`
	Reached bool   `json:"reached"`
	Detail  string `json:"detail"`
}

func (tool) Call(_ context.Context, call sdk.Call) (sdk.Result, error) {
	switch call.Tool {
	case "attack":
		structured, err := json.Marshal(attack())
		return sdk.Result{Structured: structured}, err
	case "work":
		return said(work()), nil
	case "race":
		structured, err := json.Marshal(race(call.Args))
		return sdk.Result{Structured: structured}, err
	case "names":
		structured, err := json.Marshal(names())
		return sdk.Result{Structured: structured}, err
	case "fill":
		return said(fill()), nil
	case "litter":
		return said(litter()), nil
	case "write":
		return said(os.WriteFile("/w/new.txt", []byte("x"), 0o600)), nil
	}
	return sdk.Result{}, fmt.Errorf("no tool %s", call.Tool)
}

func said(err error) sdk.Result {
	if err != nil {
		return sdk.Result{Content: err.Error(), IsError: true}
	}
	return sdk.Result{Content: "done"}
}

func init() { guest.ServeTool(tool{}) }

func main() {}
