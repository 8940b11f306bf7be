// Command guard-numbers is a guard: an answer states no number that its evidence does not hold.
package main

import (
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// guard is pure: the same draft gets the same verdict.
type guard struct{}

// Review sends a draft back that states numbers of its own. Draft and evidence are JSON; their text is enough here.
func (guard) Review(request sdk.ReviewRequest) (sdk.Review, error) {
	known := numbers(string(request.Evidence) + " " + request.Question)
	reasons := []string{}
	for _, number := range numbers(string(request.Draft)) {
		if !slices.Contains(known, number) {
			reasons = append(reasons, "the evidence does not hold the number "+number)
		}
	}
	if len(reasons) > 0 {
		return sdk.Review{Verdict: sdk.Repair, Reasons: slices.Compact(reasons)}, nil
	}
	return sdk.Review{Verdict: sdk.Release, Reasons: reasons}, nil
}

// numbers lists the runs of digits in a text.
func numbers(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < '0' || '9' < r })
}

func main() {} // the host calls Review
