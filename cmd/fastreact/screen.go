package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// onScreen makes text from elsewhere safe to print on one line: control, formatting and bidirectional characters are
// shown as escapes, so that they can neither move the cursor nor make a line read as another.
func onScreen(text string) string { return escaped(text, "") }

// onScreenLines is onScreen for text of several lines.
func onScreenLines(text string) string { return escaped(text, "\n\t") }

func escaped(text, kept string) string {
	var safe strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&safe, `\x%02x`, text[0])
		case strings.ContainsRune(kept, r):
			safe.WriteRune(r)
		case r == '\n':
			safe.WriteString(`\n`)
		case r == '\t':
			safe.WriteString(`\t`)
		case hidden(r):
			fmt.Fprintf(&safe, `\u{%x}`, r)
		default:
			safe.WriteRune(r)
		}
		text = text[size:]
	}
	return safe.String()
}

// asciiJSON writes JSON text so that it means the same and holds nothing a terminal would act on: such characters
// can only stand inside strings, where JSON has escapes for them.
func asciiJSON(text []byte) string {
	var safe strings.Builder
	for _, r := range string(text) {
		switch {
		case r == '\n', !hidden(r) && r != utf8.RuneError:
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

// hidden reports whether a terminal would act on r instead of showing it.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector)
}

// cut shortens text to most characters.
func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
