package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheReaderIsAskedAboutASnapshotWhenItsFileIsAnother(t *testing.T) {
	var known readable
	path := filepath.Join(t.TempDir(), coreSnapshot)
	asked := 0
	ask := func(code string, err error) string {
		t.Helper()
		about, statErr := os.Lstat(path)
		if statErr != nil {
			t.Fatal(statErr)
		}
		return known.ask(path, about, func() (string, error) {
			asked++
			return code, err
		})
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{")
	got := []string{
		ask("", errors.New("the reader is away")), ask("snapshot_invalid", nil), ask("never asked", nil),
	}
	write("{}")
	got = append(got, ask("", nil), ask("never asked", nil))
	if diff := cmp.Diff([]string{"", "snapshot_invalid", "snapshot_invalid", "", ""}, got); diff != "" || asked != 3 {
		t.Errorf("asked %d times (-want +got):\n%s", asked, diff)
	}
}
