package main

import (
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/sdk/client"
)

// questionOf says what a person is asked.
func questionOf(a client.Approval) string {
	switch a.Kind {
	case "", client.Permission:
		return "may this call run?"
	case client.UnknownOutcome:
		return "this call left, and nobody knows whether it took effect: what now?"
	}
	return a.Kind
}

// statusOf is the status in a list, where a question that is not about permission shows.
func statusOf(a client.Approval) string {
	if a.Kind == client.UnknownOutcome {
		return a.Status + " (outcome unknown)"
	}
	return a.Status
}

// meaning says what comes of a choice.
func meaning(choice string) string {
	switch choice {
	case client.Retry:
		return "run it again, as far as policy allows today"
	case client.TreatAsDone:
		return "it took effect, go on"
	case client.Abort:
		return "end the run"
	}
	return ""
}

// inWords is a choice with what comes of it.
func inWords(choice string) string {
	if means := meaning(choice); means != "" {
		return choice + ": " + means
	}
	return choice
}

// choicesOf lists what there is to choose, while there is.
func choicesOf(a client.Approval) string {
	if a.Status != "pending" {
		return ""
	}
	words := make([]string, len(a.Choices))
	for i, choice := range a.Choices {
		words[i] = inWords(choice)
	}
	return strings.Join(words, "; ")
}

// howToAnswer tells the commands that answer an approval, each line behind an indent.
func howToAnswer(indent, until, id string, choices []string) string {
	if len(choices) == 0 {
		return fmt.Sprintf("%sanswer%s with: fastreact approvals approve %s   (or deny)", indent, until, id)
	}
	var lines strings.Builder
	fmt.Fprintf(&lines, "%sanswer%s with one of:", indent, until)
	for _, choice := range choices {
		fmt.Fprintf(&lines, "\n%s  fastreact approvals approve %s --choice %-13s  %s", indent, id, onScreen(choice), meaning(choice))
	}
	return lines.String()
}
