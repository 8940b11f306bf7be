// Command oneselect is a policy plugin: a tool that takes SQL gets one select statement, whatever it says of itself.
package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

type policy struct{}

// Evaluate denies everything but one select. It errs on the side of denying: a semicolon or a word that changes data
// counts wherever it stands, in a string too.
func (policy) Evaluate(question sdk.Question) (sdk.Opinion, error) {
	var args struct {
		SQL string `json:"sql"`
	}
	if err := json.Unmarshal(question.Args, &args); err != nil {
		return sdk.Opinion{}, fmt.Errorf("read arguments: %w", err) // the host denies the call
	}
	statement := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(args.SQL), ";"))
	changes := regexp.MustCompile(`\b(insert|update|delete|merge|truncate|create|alter|drop|grant|call|do|copy|into)\b`)
	if !strings.HasPrefix(statement, "select ") || strings.Contains(statement, ";") || changes.MatchString(statement) {
		return sdk.Opinion{Action: sdk.Deny, Reason: "only one select statement may run"}, nil
	}
	return sdk.Opinion{Action: sdk.Allow}, nil
}

func init() { guest.ServePolicy(policy{}) }

func main() {} // the host calls Evaluate
