package blackbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

func TestTheConfigurationsInTheDocumentsAreValid(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for page, count := range map[string]int{"README.md": 1, "docs/pska.md": 2, "docs/chat.md": 1, "docs/agent-tools.md": 3} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
		if len(blocks) != count {
			t.Errorf("%s has %d configurations, want %d", page, len(blocks), count)
		}
		for _, block := range blocks {
			check := exec.Command(binary, "config", "check", "--config", filepath.Join(t.TempDir(), "fastreact.yaml"))
			if err := os.WriteFile(check.Args[len(check.Args)-1], block[1], 0o600); err != nil {
				t.Fatal(err)
			}
			check.Dir = root
			check.Env = append(os.Environ(), "FASTREACT_SERVICE_TOKEN=a-token-of-this-test", "FASTREACT_MODEL_API_KEY=k", "PSKA_MCP_AUTHORIZATION=Bearer x",
				"MODEL_API_KEY=k", "SHOP_DSN=reader:p@tcp(127.0.0.1:3306)/shop")
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s\n%s", page, err, out, block[1])
			}
		}
	}
}
