package agent

import (
	"context"
	"strings"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/release"
	"github.com/fastreact/fastreact/host/internal/run"
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

// maxDeltas is how many parts an answer is released in at most.
const maxDeltas = 64

// answer is how a run ends well.
type answer struct {
	text   string       // behind what was released already
	reason string       // why it ends there
	reply  *model.Reply // the model call that is still to be counted; nil when none is
	check  *checked     // nil when nothing had to be taken out
}

// answerOf is what a reply says to the person who asked. An answer that was cut at the token limit stands as far as
// it goes; one that the vendor withheld does not stand at all.
func answerOf(reply model.Reply) answer {
	said := answer{text: reply.Text, reason: reply.FinishReason, reply: &reply}
	silent := strings.TrimSpace(reply.Text) == ""
	switch {
	case reply.FinishReason == model.FinishFilter:
		said.text = withheldSentence
	case silent && reply.FinishReason == model.FinishLength:
		said.text = cutSentence
	case silent:
		said.text, said.reason = emptySentence, stopEmpty
	}
	return said
}

// finish ends the run with an answer, in one batch with its parts where the request asks for them: whatever reader
// sees the end has seen every part.
func (d *drive) finish(ctx context.Context, said answer) error {
	var events []run.Event
	usage := d.story.usage
	if said.reply != nil {
		events = append(events, stepEvent(*said.reply))
		usage = sum(usage, said.reply.Usage)
	}
	deltas := d.deltas(said.text)
	said.text = d.story.released + said.text
	events = append(append(events, deltas...), d.endEvent(said, usage, d.story.parts+len(deltas)))
	outcome := d.outcome(usage)
	outcome.Answer, outcome.StopReason = said.text, said.reason
	return d.append(ctx, ledger.Batch{
		Events: events, Finish: &ledger.Finish{Status: run.Completed, Outcome: outcome},
	})
}

// deltas are the answer sentence by sentence, for a request that asks for it. They are released when the answer is
// known and looked through, unless the step had no tools, see live: until a step with tools has ended, its text may
// still turn out to be a thought beside tool calls, and what was sent cannot be taken back. An answer that holds a
// secret stays whole, so that the faces see it whole.
func (d *drive) deltas(text string) []run.Event {
	if !d.run.Request.StreamDeltas || d.profile.Exit != nil {
		return nil
	}
	most := maxDeltas
	if d.cfg.Secret != nil && d.cfg.Secret(text) {
		most = 1
	}
	var events []run.Event
	for _, piece := range release.Pieces(text, most) {
		events = append(events, run.Event{Kind: run.AnswerDelta, Content: piece})
	}
	return events
}
