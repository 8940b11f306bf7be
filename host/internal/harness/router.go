package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/agent"
)

// ErrUnroutable reports that nobody could say what a question is for.
var ErrUnroutable = errors.New("the question cannot be routed")

// Router tells a question for a diagnosis from any other. Fixed rules decide first; the model is asked once, about what
// no rule knows.
type Router struct {
	system string // what the model is told when it is asked
}

// Route returns the profile that answers the question. ErrUnroutable is its error when the model's answer is not one
// of the two words it may say.
func (r Router) Route(ctx context.Context, ask agent.Ask, question string) (string, error) {
	if profile := ruled(question); profile != "" {
		return profile, nil
	}
	answer, err := ask(ctx, r.system, question)
	if err != nil {
		return "", fmt.Errorf("ask the model about the route: %w", err)
	}
	switch strings.ToUpper(strings.Trim(answer, " \t\r\n.`'\"*")) {
	case "DIAGNOSIS":
		return Diagnosis, nil
	case "GENERAL":
		return General, nil
	}
	return "", ErrUnroutable
}

// ruled returns the profile that the rules name, or nothing. A greeting at the beginning decides, whatever follows it.
func ruled(question string) string {
	text := strings.Join(strings.Fields(strings.ToLower(question)), " ")
	switch {
	case greets(text):
		return General
	case wantsDiagnosis(text):
		return Diagnosis
	}
	return ""
}
