package capability

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWorkspaceIsPrivate(t *testing.T) {
	root := filepath.Join(t.TempDir(), "workspaces")
	dir, err := Workspace(root, "pska", "pska:user_primary")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{root, filepath.Dir(dir), dir} {
		info, err := os.Stat(folder)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %o", folder, info.Mode().Perm())
		}
	}
}

func TestWorkspaceIsTheSameEachTime(t *testing.T) {
	root := t.TempDir()
	first, err := Workspace(root, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Workspace(root, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

func TestNoTwoPairsShareAWorkspace(t *testing.T) {
	keys := []string{"a", "A", "a_", "_", "__", "_41", "a/b", "a\\b", "..", ".", "-", "a b", "ä", "a\x00", strings.Repeat("x", 300), strings.Repeat("X", 100)}
	root := t.TempDir()
	owners := map[string][2]string{}
	for _, tenant := range append(keys, "") {
		for _, user := range keys {
			dir, err := Workspace(root, tenant, user)
			if err != nil {
				t.Fatal(err)
			}
			lower := strings.ToLower(dir)
			if other, taken := owners[lower]; taken {
				t.Errorf("%q and %q share %s", other, [2]string{tenant, user}, dir)
			}
			owners[lower] = [2]string{tenant, user}
			if filepath.Dir(filepath.Dir(dir)) != root {
				t.Errorf("%s is not two folders below %s", dir, root)
			}
		}
	}
}

func TestCallersWithoutAUserShareOneWorkspaceOfTheirTenant(t *testing.T) {
	root := t.TempDir()
	nobody, err := Workspace(root, "a", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range [][2]string{{"a", "_"}, {"b", ""}, {"a", "anonymous"}} {
		if dir, err := Workspace(root, other[0], other[1]); err != nil || dir == nobody {
			t.Errorf("%v has %s (%v)", other, dir, err)
		}
	}
}

func TestWorkspaceIsNotALink(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	if dir, err := Workspace(root, "a", "b"); err == nil {
		t.Errorf("the workspace is %s", dir)
	}
}

func FuzzFolderNamesDiffer(f *testing.F) {
	f.Add("a", "A")
	f.Add("_", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		if (folderName(a) == folderName(b)) != (a == b) {
			t.Errorf("%q and %q: %s", a, b, folderName(a))
		}
	})
}
