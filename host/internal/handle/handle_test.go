package handle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/handle"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// book is the events of runs.
type book map[run.Ref][]run.Event

func (b book) Events(_ context.Context, ref run.Ref, after int64, limit int) ([]run.Event, error) {
	if ref.ID == "broken" {
		return nil, errors.New("disk")
	}
	var found []run.Event
	for i, event := range b[ref] {
		event.Sequence = int64(i)
		if event.Sequence > after && len(found) < limit {
			found = append(found, event)
		}
	}
	return found, nil
}

var mine = run.Ref{Tenant: "pska", ID: "run-1"}

func read(t *testing.T, text string, maxBytes int, args string) sdk.Result {
	t.Helper()
	events := []run.Event{{Kind: run.SessionStart, Content: "question"}, {Kind: run.ToolResult, Content: text}}
	log := book{mine: events, {Tenant: "other", ID: "run-1"}: {{}, {Kind: run.ToolResult, Content: "theirs"}}, {Tenant: "pska", ID: "run-2"}: events}
	source := handle.New(log, maxBytes)
	call := sdk.Call{Args: json.RawMessage(args), RunID: mine.ID, Identity: sdk.Identity{TenantKey: string(mine.Tenant)}}
	result, err := source.Invoke(t.Context(), source.Tools(t.Context())[0], call)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestTheRestOfAResultIsReadInParts(t *testing.T) {
	text := strings.Repeat("0123456789", 100)
	got := []string{
		read(t, text, 1200, `{"handle":"run-1:1","offset":990}`).Content,
		read(t, text, 1200, `{"handle":"run-1:1","offset":5,"limit":10}`).Content,
		read(t, text, 210, `{"handle":"run-1:1"}`).Content,
	}
	want := []string{
		"0123456789\n[bytes 990 to 1000 of 1000: the end]",
		"5678901234\n[bytes 5 to 15 of 1000; the next part begins at offset 15]",
		"0123456789\n[bytes 0 to 10 of 1000; the next part begins at offset 10]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestAPartHoldsWholeLetters(t *testing.T) {
	got := read(t, "aäöü", 1000, `{"handle":"run-1:1","offset":2,"limit":3}`).Content
	if want := "ä\n[bytes 1 to 3 of 7; the next part begins at offset 3]"; got != want {
		t.Errorf("part %q, want %q", got, want)
	}
}

func TestALimitBelowOneLetterStillMovesOn(t *testing.T) {
	got := read(t, "🙂!", 1000, `{"handle":"run-1:1","limit":1}`).Content
	if want := "🙂\n[bytes 0 to 4 of 5; the next part begins at offset 4]"; got != want {
		t.Errorf("part %q, want %q", got, want)
	}
}

func TestPartsTogetherAreTheWholeResult(t *testing.T) {
	text := strings.Repeat("Grüße 🙂\n", 200)
	var whole strings.Builder
	for offset := 0; offset < len(text); {
		content := read(t, text, 300, fmt.Sprintf(`{"handle":"run-1:1","offset":%d}`, offset)).Content
		if len(content) > 300 {
			t.Fatalf("a part of %d bytes", len(content))
		}
		cut := strings.LastIndex(content, "\n[bytes ")
		whole.WriteString(content[:cut])
		offset += cut
	}
	if diff := cmp.Diff(text, whole.String()); diff != "" {
		t.Errorf("whole (-want +got):\n%s", diff)
	}
}

func TestARunReadsItsOwnResultsOnly(t *testing.T) {
	for name, args := range map[string]string{
		"another run":     `{"handle":"run-2:1"}`,
		"no result":       `{"handle":"run-1:0"}`,
		"after the end":   `{"handle":"run-1:2"}`,
		"no number":       `{"handle":"run-1:x"}`,
		"a negative one":  `{"handle":"run-1:-1"}`,
		"another form":    `{"handle":"1"}`,
		"nothing":         `{}`,
		"offset too far":  `{"handle":"run-1:1","offset":5}`,
		"offset below 0":  `{"handle":"run-1:1","offset":-1}`,
		"limit below 1":   `{"handle":"run-1:1","limit":0}`,
		"offset no whole": `{"handle":"run-1:1","offset":1.5}`,
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, "mine", 1000, args)
			if !got.IsError || strings.Contains(got.Content, "mine") || strings.Contains(got.Content, "theirs") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAFailingLogIsAnError(t *testing.T) {
	source := handle.New(book{}, 1000)
	call := sdk.Call{Args: json.RawMessage(`{"handle":"broken:1"}`), RunID: "broken"}
	if _, err := source.Invoke(t.Context(), run.Tool{}, call); err == nil {
		t.Error("no error")
	}
}
