package workbench

import (
	"fmt"

	"github.com/fastreact/fastreact/sdk"
)

// vectorCases makes cases of the self-test vectors that a manifest ships.
func vectorCases(manifest sdk.Manifest) ([]*Case, error) {
	var cases []*Case
	for _, v := range manifest.Vectors {
		input, err := vectorInput(v)
		if err != nil {
			return nil, fmt.Errorf("vector %s: %w", v.Name, err)
		}
		cases = append(cases, &Case{
			Name: "vector " + v.Name, Comment: "a vector of the manifest", Op: opNames()[v.Op], Input: input, Want: Want{Vector: &v},
		})
	}
	return cases, nil
}

// vectorInput writes a vector's input as a host sends it when it tests a module.
func vectorInput(v sdk.Vector) ([]byte, error) {
	var question any
	switch v.Op {
	case "call":
		question = &sdk.Call{}
	case "inject":
		question = &sdk.InjectRequest{}
	case "filter":
		question = &sdk.FilterRequest{}
	case "review":
		question = &sdk.ReviewRequest{}
	default:
		question = &sdk.Question{}
	}
	if err := v.Read(question); err != nil {
		return nil, err
	}
	return asJSON(question), nil
}
