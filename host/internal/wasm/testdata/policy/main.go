// The module is a policy for tests: it denies what says "rm", and tells what it sees of the world when asked.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

type policy struct{}

func (policy) Evaluate(q sdk.Question) (sdk.Opinion, error) {
	switch q.Tool {
	case "world":
		return sdk.Opinion{Action: sdk.Caution, Reason: world()}, nil
	case "fail":
		return sdk.Opinion{}, errors.New("asked to fail")
	case "panic":
		panic("asked to panic")
	case "sleep":
		time.Sleep(time.Hour)
		return sdk.Opinion{Action: sdk.Allow, Reason: time.Now().UTC().Format(time.RFC3339)}, nil
	case "log":
		guest.Log("a line for the operator")
	case "hog":
		hog = make([]byte, 1<<30)
	}
	if strings.Contains(string(q.Args), "rm ") {
		return sdk.Opinion{Action: sdk.Deny, Reason: "it removes", PatternMatched: "rm "}, nil
	}
	return sdk.Opinion{Action: sdk.Allow}, nil
}

var hog []byte

func world() string {
	dice := make([]byte, 8)
	_, err := rand.Read(dice)
	return fmt.Sprint(hex.EncodeToString(dice), err, time.Now().UnixNano(), os.Args, os.Environ(), mapOrder())
}

// mapOrder differs with the runtime's own randomness.
func mapOrder() (order string) {
	for key := range map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9} {
		order += key
	}
	return order
}

func init() { guest.ServePolicy(policy{}) }

func main() {}
