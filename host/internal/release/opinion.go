package release

import (
	"context"
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// Ask puts one question to the model under the system words.
type Ask func(ctx context.Context, system, question string) (string, error)

// SecondOpinion is a guard that asks the model whether evidence carries a draft. It can only reject: whatever is not
// the one word of consent, an error included, is a rejection.
type SecondOpinion struct {
	Ask    Ask
	System string // tells the model to answer with the word RELEASE, or with anything else
}

// consent is the one answer that lets a draft pass.
const consent = "RELEASE"

// Review asks the model.
func (s SecondOpinion) Review(ctx context.Context, request sdk.ReviewRequest) (sdk.Review, error) {
	question := fmt.Sprintf("Question:\n%s\n\nEvidence:\n%s\n\nDraft:\n%s", request.Question, request.Evidence, request.Draft)
	answer, err := s.Ask(ctx, s.System, question)
	if err != nil {
		return sdk.Review{}, fmt.Errorf("ask for a second opinion: %w", err)
	}
	if strings.TrimSpace(answer) != consent {
		return sdk.Review{Verdict: sdk.Repair, Reasons: []string{"a second reader does not find the draft carried by its evidence"}}, nil
	}
	return sdk.Review{Verdict: sdk.Release, Reasons: []string{}}, nil
}
