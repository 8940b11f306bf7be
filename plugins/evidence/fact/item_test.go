package fact

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func TestAnswerIsWrittenAsCanonicalEvidence(t *testing.T) {
	got, err := Bounds{10, 100, 100, 1000}.Encode(Answer{Evidence: []Item{{
		EvidenceID: "m-1-1", Source: "metrics", Title: "Metrics: no series", ObservedAt: At(time.Unix(0, 500)), Excerpt: "a < b && c",
	}}})
	want := `{"evidence":[{"evidence_id":"m-1-1","source":"metrics","title":"Metrics: no series",` +
		`"observed_at":"1970-01-01T00:00:00.0000005Z","facts":[],"excerpt":"a < b && c"}]}`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestFactsBeyondTheBoundsAreCounted(t *testing.T) {
	facts := make([]Fact, 100)
	for i := range facts {
		facts[i] = Fact{Name: "a name", Value: strings.Repeat("v", 50)}
	}
	answer := Answer{Evidence: []Item{{Facts: facts}, {Facts: []Fact{{Name: "kept"}}}}, Note: "Before."}
	for _, bounds := range []Bounds{{40, 100, 100, 100000}, {100, 100, 100, 3000}} {
		text, err := bounds.Encode(Answer{Evidence: append([]Item{}, answer.Evidence...), Note: answer.Note})
		var got Answer
		if err != nil || json.Unmarshal([]byte(text), &got) != nil {
			t.Fatal(err)
		}
		if len(text) > bounds.Bytes || len(got.Evidence[0].Facts) > bounds.Facts || len(got.Evidence[1].Facts) != 1 ||
			!strings.HasPrefix(got.Note, "Before. ") || !strings.Contains(got.Note, "facts were left out") {
			t.Errorf("%+v: %d bytes, note %q", bounds, len(text), got.Note)
		}
	}
}

func TestAnswerThatCannotBeMadeSmallEnoughIsAnError(t *testing.T) {
	if text, err := (Bounds{10, 100, 100, 50}).Encode(Answer{Evidence: []Item{{Facts: []Fact{{Name: "a"}}}}}); err == nil {
		t.Error(text)
	}
}

func TestTextIsCutBetweenCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"short": "short", "exactly ten": "exactly…", "ääääää": "äää…", "a\x00b\x1bc\u202ed": "a?b?c?d", "a\tb\nc": "a\tb\nc", "x\xffy": "x?y",
	} {
		if got := Cut(text, 10); got != want || len(got) > 10 {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzCutTextIsShortAndReadable(f *testing.F) {
	f.Add("some text", 5)
	f.Add("ä\xff\x00", 2)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit %= 1000
		if got := Cut(text, max(limit, 0)); len(got) > max(limit, 0) || !utf8.ValidString(got) {
			t.Errorf("%q, %d: %q", text, limit, got)
		}
	})
}

func TestUnitIsReadOffTheEndOfAName(t *testing.T) {
	for name, want := range map[string]string{
		"request_duration_seconds": "s", "request_duration_seconds_sum": "s", "heap_bytes": "bytes", "Total_MS": "ms", "requests_total": "",
		"cpu_seconds_total": "s", "load_percent": "%", "items": "", "forms": "", "wait_us": "µs",
	} {
		if got := Unit(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestInstantsAreReadInEveryForm(t *testing.T) {
	now := time.Unix(1000000, 0).UTC()
	for text, want := range map[string]time.Time{
		`"now"`: now, `"now-1m"`: now.Add(-time.Minute), `"-90s"`: now.Add(-90 * time.Second), `"2h"`: now.Add(-2 * time.Hour),
		`"1d"`: now.Add(-24 * time.Hour), `999999.5`: now.Add(-time.Second / 2), `"999999"`: now.Add(-time.Second),
		`"1970-01-12T13:46:40Z"`: now, `"1970-01-12T14:46:40+01:00"`: now,
	} {
		args, err := sdk.ReadArgs([]byte(`{"at":` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Instant(args, "at", now, time.Time{}); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
