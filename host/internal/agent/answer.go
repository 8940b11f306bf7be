package agent

import (
	"strings"

	"github.com/fastreact/fastreact/host/internal/model"
)

// stopEmpty is the stop reason of a run whose model had nothing to say.
const stopEmpty = "empty_answer"

// What a person reads where the model left no text. No vendor's word stands in for an answer, and silence is no
// answer either.
const (
	emptySentence    = "I have no answer to that."
	withheldSentence = "I cannot answer that."
	cutSentence      = "My answer became longer than it may be. A narrower question may help."
)

// answerOf is what a reply says to the person who asked, and why it ends there. An answer that was cut at the token
// limit stands as far as it goes; one that the vendor withheld does not stand at all.
func answerOf(reply model.Reply) (answer, reason string) {
	silent := strings.TrimSpace(reply.Text) == ""
	switch {
	case reply.FinishReason == model.FinishFilter:
		return withheldSentence, model.FinishFilter
	case !silent:
		return reply.Text, reply.FinishReason
	case reply.FinishReason == model.FinishLength:
		return cutSentence, model.FinishLength
	}
	return emptySentence, stopEmpty
}
