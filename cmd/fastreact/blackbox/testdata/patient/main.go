// Command patient is a policy plugin for tests: it allows what it is asked about, after as much work as the query says,
// or does what else the query says.
package main

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

type policy struct{}

// work is what the loop changes, so that it is not left out.
var work = make([]byte, 1)

// Evaluate turns as many million times as stand in a query such as "busy 20".
func (policy) Evaluate(question sdk.Question) (sdk.Opinion, error) {
	var args struct{ Query string }
	if err := json.Unmarshal(question.Args, &args); err != nil {
		return sdk.Opinion{}, err
	}
	switch args.Query {
	case "deny":
		return sdk.Opinion{Action: sdk.Deny, Reason: "canary of a plugin, in /var/lib"}, nil
	case "ask":
		return sdk.Opinion{Action: sdk.RequireApproval, Reason: "canary of a plugin, in /var/lib"}, nil
	case "trap":
		panic("canary of a plugin, in /var/lib")
	}
	if count, is := strings.CutPrefix(args.Query, "busy "); is {
		millions, err := strconv.Atoi(count)
		if err != nil {
			return sdk.Opinion{}, err
		}
		for n := range millions * 1_000_000 {
			work[0] += byte(n)
		}
	}
	return sdk.Opinion{Action: sdk.Allow}, nil
}

func init() { guest.ServePolicy(policy{}) }

func main() {} // the host calls Evaluate
