package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk/client"
)

func TestAnAnswerInPartsIsShownOnce(t *testing.T) {
	var out bytes.Buffer
	show := display{out: &out}
	for _, event := range []client.Event{
		{Type: "answer_delta", Content: "One.\n\n"},
		{Type: "answer_delta", Content: "Two\x1b."},
		{Type: "session_end", Content: "One.\n\nTwo\x1b."},
	} {
		show.event(event)
	}
	if diff := cmp.Diff("\nOne.\n\nTwo\\u{1b}.\n", out.String()); diff != "" || show.answer != "One.\n\nTwo\x1b." {
		t.Errorf("answer %q (-want +got):\n%s", show.answer, diff)
	}
}

func TestAReviewIsOneLine(t *testing.T) {
	var out bytes.Buffer
	show := display{out: &out}
	for _, stage := range []string{"verifying", "repairing"} {
		show.event(client.Event{Type: "answer_review", Metadata: json.RawMessage(`{"stage":"` + stage + `","round":1}`)})
	}
	want := "  · The answer is looked at before it leaves\n  · The answer is written again\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASignOfLifeIsOneLine(t *testing.T) {
	var out bytes.Buffer
	show := display{out: &out}
	show.event(client.Event{
		Type: "tool_progress", ToolName: "exec", Content: "a\nb", Metadata: json.RawMessage(`{"done":3,"total":10}`),
	})
	if diff := cmp.Diff("  … exec 3 of 10 a\\nb\n", out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
