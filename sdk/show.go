package sdk

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Show makes text from elsewhere safe for a person to read on one line: whatever a screen would obey or hide instead of
// showing it stands there as an escape, such as \u{202e}. So no argument of a call can move the cursor, hide a part of
// itself, or make one line read as another.
func Show(text string) string { return shown(text, "") }

// ShowLines is Show for text of several lines: line feeds and tabs stay.
func ShowLines(text string) string { return shown(text, "\n\t") }

func shown(text, kept string) string {
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
		case Hidden(r):
			fmt.Fprintf(&safe, `\u{%x}`, r)
		default:
			safe.WriteRune(r)
		}
		text = text[size:]
	}
	return safe.String()
}

// Hidden reports whether a screen would act on r or show nothing for it: control characters (ANSI sequences begin with
// one), formatting and bidirectional ones, separators of lines and paragraphs, spaces that are no plain space, private
// and invisible letters.
func Hidden(r rune) bool {
	if r == ' ' || r == unicode.ReplacementChar {
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Z, unicode.Co, unicode.Cs,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point) ||
		r == '\u2800' // a braille cell without dots
}
