package release_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/release"
)

// TestSentencesEndWhereAReaderWouldEndThem writes ¦ where one ends.
func TestSentencesEndWhereAReaderWouldEndThem(t *testing.T) {
	for _, marked := range []string{
		"",
		"  ",
		"One",
		"One. ¦Two! ¦Three? ¦Four… ¦Five",
		"  One. ¦Two.",
		"It costs 3.14 euros. ¦That is 1.000,50 in all.",
		"See e.g. Mr. Smith vs. Dr. J. R. Jones, i.e. them. ¦Then go.",
		"No. ¦It is No. 5 of them.",
		"It is in the U.S. Army list.",
		"Open config.yaml at https://a.example/b.c?d=e. ¦Done.",
		"He said: “Stop.” ¦Then he left.",
		"What? he asked. ¦(It was late.) ¦So it ended.",
		"Wait... what? ¦Wait... ¦What?",
		"Use `a.b. C` there. ¦Then stop.",
		"An open ` tick. ¦Then stop.",
		"你好。¦世界！¦真的吗？¦是。",
		"「はい。」¦そして、行った。",
		"यह है। ¦वह है।",
		"هل هذا؟ ¦نعم.",
		"Нет. ¦Да.",
		"First line\ngoes on. ¦Second.\n\n¦New paragraph.\n",
		"List:\n¦- one. ¦Really.\n¦- two\n  goes on\n¦1. three\n¦2) four\n",
		"# Head. Line\n¦Text. ¦More.\n",
		"| a. B | c |\n¦|---|---|\n",
		"> Quoted. ¦More\n> of it.\n",
		"Code:\n¦```go\na. B\n\n- c\n```\n¦After. ¦End.",
		"~~~\nnever closed. A\n",
		"    set in. Code\n¦Text.",
		"[1] Alpha says so. ¦[2] Beta.",
		"Am 3. Mai war es so. ¦Danach z.B. nicht.",
		"\n\nOne.\n\n\n¦Two.",
	} {
		want := strings.FieldsFunc(marked, func(r rune) bool { return r == '¦' })
		if marked == "" {
			want = nil
		}
		if diff := cmp.Diff(want, release.Sentences(strings.ReplaceAll(marked, "¦", ""))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", marked, diff)
		}
	}
}

func TestSentencesAndPiecesAreTheWholeText(t *testing.T) {
	long := strings.Repeat("One. Two!\n\n- a\n```\nx. Y\n", 50) // the fence closes and opens again
	for _, text := range []string{"", "\n", "a", "a. b\xff. C", long} {
		if got := strings.Join(release.Sentences(text), ""); got != text {
			t.Errorf("sentences of %q are %q", text, got)
		}
		for _, most := range []int{1, 2, 64} {
			pieces := release.Pieces(text, most)
			if got := strings.Join(pieces, ""); got != text || len(pieces) > most {
				t.Errorf("%d pieces of %q are %q", len(pieces), text, got)
			}
		}
	}
	if got := len(release.Pieces("One. Two. Three.", 64)); got != 3 {
		t.Errorf("%d pieces of three sentences", got)
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("One. “Two.” 3.14 `a. b`\n- x\n```\ny\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got := strings.Join(release.Sentences(text), ""); got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
