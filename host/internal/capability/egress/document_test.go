package egress

import (
	"os"
	"strings"
	"testing"
)

func TestEveryCodeIsExplainedToOperators(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range Codes() {
		if !strings.Contains(string(text), "`"+string(code)+"`") {
			t.Errorf("docs/operators.md does not name %s", code)
		}
	}
}
