package find

import (
	"strings"
	"testing"
)

func TestNobodyIsAskedByOk(t *testing.T) {
	if _, err := Parse([]string{"-ok", "rm", "{}", ";"}); err == nil || !strings.Contains(err.Error(), "nobody can be asked") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, words := range []string{"-name *.go -type f", "( -name a -o -name b ) -print0", "-exec echo {} ;", "-exec rm {} +", "! -size +10k , -delete", "-perm -u+x -newermt 2024-01-01"} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		expression, err := Parse(strings.Fields(words))
		if err == nil && expression.root == nil {
			t.Error("neither an expression nor an error")
		}
	})
}
