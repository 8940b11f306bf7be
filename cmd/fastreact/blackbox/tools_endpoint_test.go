package blackbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyTheCanonicalAddressOfThisMachineIsAModel asks the program about configurations; none of them is contacted.
func TestOnlyTheCanonicalAddressOfThisMachineIsAModel(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	check := func(command, endpoint string) (said string, fine bool) {
		t.Helper()
		file := filepath.Join(folder, "fastreact.yaml")
		text := fmt.Sprintf("agent_tools: {addr: \"127.0.0.1:0\", endpoint: %q, model: m}\n", endpoint)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{command, "--config", file}
		if command == "config" {
			args = []string{"config", "check", "--config", file}
		}
		run := exec.CommandContext(t.Context(), binary, args...)
		run.Dir = folder
		out, err := run.CombinedOutput()
		return string(out), err == nil
	}
	bad := []string{
		"http://localhost:8080", "http://127.0.0.2:8080", "http://0.0.0.0:8080", "http://[::ffff:127.0.0.1]:8080", "http://2130706433:8080",
		"http://127.0.0.1", "http://127.0.0.1:0", "http://127.0.0.1:08080", "https://127.0.0.1:8080", "http://127.0.0.1:8080/v1",
		"http://user@127.0.0.1:8080", "http://127.0.0.1:8080@example.com", "http://example.com:8080", " http://127.0.0.1:8080",
	}
	for _, endpoint := range bad {
		if said, fine := check("config", endpoint); fine || !strings.Contains(said, "agent_tools.endpoint") {
			t.Errorf("%q passes: %s", endpoint, said)
		}
	}
	for _, endpoint := range []string{"http://127.0.0.1:65535", "http://[::1]:8080", "http://127.0.0.1:8080/"} {
		if said, fine := check("config", endpoint); !fine {
			t.Errorf("%q does not pass: %s", endpoint, said)
		}
	}
	if said, fine := check("serve", "http://example.com:8080"); fine || !strings.Contains(said, "agent_tools.endpoint") || strings.Contains(said, "listens on") {
		t.Errorf("it serves: %s", said)
	}
}
