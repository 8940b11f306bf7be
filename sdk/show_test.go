package sdk

import "testing"

func TestWhatAScreenWouldObeyIsShownAsAnEscape(t *testing.T) {
	for given, want := range map[string]string{
		"plain äöü 漢字 é 👍":          "plain äöü 漢字 é 👍",
		"\x1b[31mred\x07\x7f":       `\u{1b}[31mred\u{7}\u{7f}`,
		"c1 \u009b2J":               `c1 \u{9b}2J`,
		"a\u202eb\u2066c\u061c":     `a\u{202e}b\u{2066}c\u{61c}`,
		"a\u200bb\u200d\ufeff":      `a\u{200b}b\u{200d}\u{feff}`,
		"line\u2028break\u2029":     `line\u{2028}break\u{2029}`,
		"next\u0085line":            `next\u{85}line`,
		"two\nlines\tand\r":         `two\nlines\tand\u{d}`,
		"nbsp\u00a0wide\u3000":      `nbsp\u{a0}wide\u{3000}`,
		"fill\u3164\u115f\u034f":    `fill\u{3164}\u{115f}\u{34f}`,
		"tag \U000e0041 \ufe0f end": `tag \u{e0041} \u{fe0f} end`,
		"blank\u2800":               `blank\u{2800}`,
		"\xff\xc3":                  `\xff\xc3`,
	} {
		if got := Show(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

func TestLinesStayWhereAsked(t *testing.T) {
	if got := ShowLines("a\n\tb\r\n"); got != "a\n\tb\\u{d}\n" {
		t.Errorf("%q", got)
	}
}

func FuzzNothingThatIsHiddenIsShown(f *testing.F) {
	f.Add("a\u202e\x1b[0m")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Show(text) {
			if Hidden(r) {
				t.Fatalf("%q shows %q", text, r)
			}
		}
	})
}
