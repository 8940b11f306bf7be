package agent_test

import (
	"testing"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestAModelWithoutWordsEndsTheRunWithASentence(t *testing.T) {
	for name, test := range map[string]struct {
		reply        model.Reply
		answer, stop string
	}{
		"nothing":           {model.Reply{}, "I have no answer to that.", "empty_answer"},
		"blanks":            {model.Reply{Text: " \n\t"}, "I have no answer to that.", "empty_answer"},
		"only thoughts":     {model.Reply{Reasoning: "hm"}, "I have no answer to that.", "empty_answer"},
		"cut before a word": {model.Reply{FinishReason: model.FinishLength}, "My answer became longer than it may be. A narrower question may help.", "length"},
		"cut half way":      {model.Reply{Text: "Alpha is", FinishReason: model.FinishLength}, "Alpha is", "length"},
		"withheld":          {model.Reply{FinishReason: model.FinishFilter}, "I cannot answer that.", "content_filter"},
		"withheld in part":  {model.Reply{Text: "Alpha", FinishReason: model.FinishFilter}, "I cannot answer that.", "content_filter"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []model.Turn{{Reply: test.reply}})
			w.drive(t)
			events := w.events(t)
			last := events[len(events)-1]
			if last.Kind != run.SessionEnd || last.Content != test.answer || metadata(t, last)["stop_reason"] != test.stop {
				t.Errorf("%s: %q, %s", last.Kind, last.Content, last.Metadata)
			}
			if r := w.run(t); r.Status != run.Completed || r.Outcome.Answer != test.answer || r.Outcome.StopReason != test.stop {
				t.Errorf("status %s, outcome %+v", r.Status, r.Outcome)
			}
		})
	}
}
