package main

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fastreact/fastreact/sdk"
)

// onScreen makes text from elsewhere safe to print on one line: control, formatting and bidirectional characters are
// shown as escapes, so that they can neither move the cursor nor make a line read as another.
func onScreen(text string) string { return sdk.Show(text) }

// onScreenLines is onScreen for text of several lines.
func onScreenLines(text string) string { return sdk.ShowLines(text) }

// asciiJSON writes JSON text so that it means the same and holds nothing a terminal would act on: such characters
// can only stand inside strings, where JSON has escapes for them.
func asciiJSON(text []byte) string {
	var safe strings.Builder
	for _, r := range string(text) {
		switch {
		case r == '\n', !sdk.Hidden(r) && r != utf8.RuneError:
			safe.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&safe, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
	}
	return safe.String()
}

// cut shortens text to most characters.
func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
