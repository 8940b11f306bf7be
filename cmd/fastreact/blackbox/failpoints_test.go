package blackbox

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestAReleasedProgramHoldsNoFailpoints: the tests of a program that is made to fail find each of these marks in it.
func TestAReleasedProgramHoldsNoFailpoints(t *testing.T) {
	marks, err := os.ReadFile("../../../host/internal/failpoint/testdata/marks.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(bytes.Fields(marks)) == 0 {
		t.Fatal("no marks to look for")
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for mark := range strings.Lines(string(marks)) {
		if mark = strings.TrimSpace(mark); bytes.Contains(program, []byte(mark)) {
			t.Errorf("a released program has %q in it", mark)
		}
	}
}
