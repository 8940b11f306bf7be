package blackbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

func TestTheConfigurationsOfThePSKAPageAreValid(t *testing.T) {
	page, err := os.ReadFile("../../../docs/pska.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d configurations", len(blocks))
	}
	for _, block := range blocks {
		file := filepath.Join(t.TempDir(), "fastreact.yaml")
		if err := os.WriteFile(file, block[1], 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.Command(binary, "config", "check", "--config", file)
		command.Env = append(os.Environ(), "FASTREACT_SERVICE_TOKEN=a-token-of-this-test", "FASTREACT_MODEL_API_KEY=k", "PSKA_MCP_AUTHORIZATION=Bearer x")
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, out, block[1])
		}
	}
}
