package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk/client"
)

func TestScreenShowsWhatATerminalWouldObey(t *testing.T) {
	for given, want := range map[string]string{
		"plain äöü 漢字":       "plain äöü 漢字",
		"\x1b[31mred\x07":    `\u{1b}[31mred\u{7}`,
		"a\u202eb\u2066c":    `a\u{202e}b\u{2066}c`,
		"a\u200bb\ufeff":     `a\u{200b}b\u{feff}`,
		"two\nlines\tand":    `two\nlines\tand`,
		"\xff\xc3":           `\xff\xc3`,
		"c1 \u009b2J":        `c1 \u{9b}2J`,
		"line\u2028break":    `line\u{2028}break`,
		"tag \U000e0041 end": `tag \u{e0041} end`,
	} {
		if got := onScreen(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

func TestScreenKeepsLinesWhereAsked(t *testing.T) {
	if got := onScreenLines("a\n\tb\r\n"); got != "a\n\tb\\u{d}\n" {
		t.Errorf("%q", got)
	}
}

func TestJSONForTheScreenMeansTheSame(t *testing.T) {
	given := "c1 \u009b2J \u202e \u2028 \U000e0041 äöü"
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	raw := strings.NewReplacer(`\u2028`, "\u2028").Replace(string(text))
	safe := asciiJSON([]byte(raw))
	var got string
	if err := json.Unmarshal([]byte(safe), &got); err != nil || got != given {
		t.Errorf("%s reads as %q: %v", safe, got, err)
	}
	if strings.ContainsAny(safe, "\u009b\u202e\u2028\U000e0041") {
		t.Errorf("%q can drive a terminal", safe)
	}
}

func TestTheDeadlineOfAQuestionIsReadable(t *testing.T) {
	event := client.Event{ApprovalRequestID: "a", Metadata: []byte(`{"expires_at":"2026-11-30T08:49:45.683585+00:00"}`)}
	if got := (&display{}).question(event); !strings.Contains(got, "answer before 2026-11-30T08:49:45Z with: fastreact approvals approve a ") {
		t.Error(got)
	}
}
