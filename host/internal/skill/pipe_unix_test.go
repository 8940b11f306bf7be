//go:build unix

package skill

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAPipeInPlaceOfASkillKeepsNobodyWaiting(t *testing.T) {
	dir := shelf(t, nil)
	if err := os.Mkdir(filepath.Join(dir, "s"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "s", "SKILL.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "it is no file") {
		t.Errorf("got %v", err)
	}
}
