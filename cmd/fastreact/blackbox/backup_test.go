package blackbox

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fastreact runs the program once in the service's folder.
func (s *service) fastreact(args ...string) (string, error) {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), binary, args...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), s.env...)
	text, err := command.CombinedOutput()
	return string(text), err
}

func TestBackupOfARunningServiceCanBeGoneBackTo(t *testing.T) {
	waiting := make(chan struct{})
	model := newModel(t, func(a asked) said {
		if a.question() == "wait" {
			<-waiting
		}
		return searchThenAnswer(a)
	})
	letGo := sync.OnceFunc(func() { close(waiting) })
	t.Cleanup(letGo)
	s := start(t, model, "")
	before := raws(s.stream(ask("What is alpha?", map[string]any{"metadata": map[string]any{"run_id": "kept"}})).rest())
	s.stream(ask("wait", map[string]any{"metadata": map[string]any{"run_id": "open"}})).until("session_start")

	copied := filepath.Join(s.folder, "copy.db")
	text, err := s.fastreact("backup", "--config", s.config, "--json", copied)
	var made struct {
		Path  string
		Bytes int64
		Runs  int
	}
	if err != nil || json.Unmarshal([]byte(text), &made) != nil || made.Path != copied || made.Runs != 2 || made.Bytes == 0 {
		t.Fatalf("backup: %v %s", err, text)
	}
	s.stream(ask("Later?", map[string]any{"metadata": map[string]any{"run_id": "later"}})).rest()

	s.kill()
	database := filepath.Join(s.folder, "db", "f.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(database+suffix, database+".old"+suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(copied, database); err != nil {
		t.Fatal(err)
	}
	s.run()
	if diff := cmp.Diff(before, raws(newFrames(t, s.open("GET", "/v1/runs/kept/stream", nil).Body).rest())); diff != "" {
		t.Errorf("the run of before the backup (-before +now):\n%s", diff)
	}
	letGo()
	s.awaitStatus("open", "completed") // the run of during the backup goes on from there
	if status, _ := s.request("GET", "/v1/runs/later", nil); status != 404 {
		t.Errorf("the run of after the backup: %d", status)
	}
}

func TestBackupOverwritesNothingAndSaysSo(t *testing.T) {
	s := start(t, newModel(t, searchThenAnswer), "")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a file that exists":    {[]string{"--config", s.config, s.config}, "a backup overwrites nothing"},
		"a folder that is not":  {[]string{"--config", s.config, filepath.Join("none", "copy.db")}, "Check store.path"},
		"a store that is not":   {[]string{"--store", "none.db", "copy.db"}, "Check store.path"},
		"a store of no ledger":  {[]string{"--store", s.config, "copy.db"}, "file is not a database"},
		"a word too many":       {[]string{"a", "b"}, "unexpected argument"},
		"nothing to write into": {nil, "FILE is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := s.fastreact(append([]string{"backup"}, c.args...)...)
			if err == nil || !strings.Contains(text, c.want) {
				t.Errorf("%v %s", err, text)
			}
		})
	}
}
