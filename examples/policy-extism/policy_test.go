package main

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/examples/policycases"
	"github.com/fastreact/fastreact/sdk"
)

func TestOnlyNotesAreWritten(t *testing.T) {
	policycases.Check(t, func(question sdk.Question) (sdk.Opinion, error) {
		input, err := json.Marshal(question)
		if err != nil {
			t.Fatal(err)
		}
		word, err := judge(input)
		return sdk.Opinion{Action: sdk.Action(word.Action), Reason: word.Reason}, err
	})
}
