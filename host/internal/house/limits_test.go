package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryLimitNamesATestThatExists(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9_/]+_test\\.go):(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 60 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, one := range named {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(one[1])))
		if err != nil || !strings.Contains(string(source), "func "+one[2]+"(") {
			t.Errorf("%s has no %s", one[1], one[2])
		}
	}
}
