package ledgertest

import (
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func contentFacts() []fact {
	return []fact{
		{"TextComesBackByteForByte", textComesBack},
		{"EveryKindOfEventComesBack", everyKindComesBack},
		{"EventOfFiveMegabytesComesBack", largeEventComesBack},
		{"ArgumentsComeBackAsWritten", argumentsComeBack},
	}
}

func textComesBack(w *world) {
	r := w.driven("r")
	texts := []string{
		"", "\x00", "a\x00b\x00", "\u2028\u2029", "<script>&amp;</script>", "日本語 🙂 e\u0301", "\ufffd\ufeff",
		"\r\n\t\x7f\x1b[0m", `"\\"`, "'; DROP TABLE events; --", string(utf8.MaxRune),
	}
	for _, text := range texts {
		w.append(r, ledger.Batch{Events: []run.Event{{Kind: run.Think, Content: text, ToolName: text}}})
	}
	for i, event := range w.events(r.Ref) {
		w.same("content", texts[i], event.Content)
		w.same("tool name", texts[i], event.ToolName)
	}
}

func everyKindComesBack(w *world) {
	r := w.driven("r")
	var batch ledger.Batch
	for _, kind := range run.EventKinds() {
		batch.Events = append(batch.Events, run.Event{Kind: kind})
	}
	w.append(r, batch)
	var kinds []run.EventKind
	for _, event := range w.events(r.Ref) {
		kinds = append(kinds, event.Kind)
	}
	w.same("kinds", run.EventKinds(), kinds)
}

func largeEventComesBack(w *world) {
	r := w.driven("r")
	text := strings.Repeat("0123456789abcde\x00é", 5<<20/18)
	w.append(r, ledger.Batch{Events: []run.Event{think(text)}})
	if w.events(r.Ref)[0].Content != text {
		w.Error("the text came back changed")
	}
}

func argumentsComeBack(w *world) {
	r := w.driven("r")
	args := `{"b":1.0,"a":12345678901234567890,"c":1e400,"b":2,"d":"<&>\u00fc"}`
	w.append(r, ledger.Batch{Events: []run.Event{{Kind: run.ToolCalled, ToolArgs: []byte(args)}}})
	w.same("arguments", args, string(w.events(r.Ref)[0].ToolArgs))
}
