package blackbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// repository is a git repository with one commit and one change that was not committed.
func repository(t *testing.T) (folder string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		peers.Missing(t, "git")
	}
	folder = filepath.Join(t.TempDir(), "repository")
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git(t, ".", "init", "-q", folder)
	write("committed\n")
	git(t, folder, "add", "a.txt")
	git(t, folder, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first")
	write("changed\n")
	return folder
}

func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

const gitPolicy = `policy:
  default_action: allow
  tool_rules: {git_reset: require_approval, git_clean: require_approval, git_push: deny}
approvals: {timeout: 60s}
`

func TestServerGitAsksBeforeItDestroys(t *testing.T) {
	t.Parallel()
	folder := repository(t)
	s, _ := startPeers(t, gitPolicy, peer{
		name: "git", program: []string{npmPeer(t, "git-mcp-server")},
		env: map[string]string{"MCP_TRANSPORT_TYPE": "stdio", "MCP_LOG_LEVEL": "error"},
	})
	if names := s.tools("git"); len(names) != 28 {
		t.Errorf("%d tools: %v", len(names), names)
	}
	s.call("git_git_status", map[string]any{"path": folder}).demand(t, false, "a.txt")
	s.call("git_git_status", map[string]any{"path": filepath.Join(folder, "absent")}).demand(t, true, "does not exist")
	s.denied(s.call("git_git_push", map[string]any{"path": folder}), "git", "git_push")

	reset := map[string]any{"path": folder, "mode": "hard", "confirmed": true}
	question := "git_git_reset " + string(mustJSON(t, reset))
	for _, answer := range []string{"deny", "approve"} {
		stream := s.stream(ask(question, nil))
		all := stream.until("ask_user")
		asked := all[len(all)-1].json(t)
		if shown := asked["tool_args"].(map[string]any); shown["mode"] != "hard" || shown["path"] != folder {
			t.Errorf("a person is shown %v", shown)
		}
		if calls := s.reached("git", "git_reset"); len(calls) != 0 {
			t.Fatalf("before anybody answered the server received %v", calls)
		}
		if status, raw := s.request("POST", "/v1/approvals/"+asked["approval_request_id"].(string)+"/"+answer, nil); status != 200 {
			t.Fatalf("%s: %d %s", answer, status, raw)
		}
		s.resultIn(stream.rest()).demand(t, answer == "deny", "")
		changed := strings.Contains(git(t, folder, "status", "--short"), "a.txt")
		if changed != (answer == "deny") {
			t.Errorf("after %s the change is there: %v", answer, changed)
		}
	}
	if calls := s.reached("git", "git_reset"); len(calls) != 1 || calls[0] != string(mustJSON(t, reset)) {
		t.Errorf("the server received %v", calls)
	}
}
