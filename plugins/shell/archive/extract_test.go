package archive

import (
	"io/fs"
	"testing"
)

func FuzzMembersStayInside(f *testing.F) {
	for _, name := range []string{"a/b", "/etc/passwd", "../x", "a/../../x", "./a", "//a", "a/..", ""} {
		f.Add(name, 0)
	}
	f.Fuzz(func(t *testing.T, name string, strip int) {
		below, err := inside(name, strip&3)
		if err == nil && below != "" && !fs.ValidPath(below) {
			t.Errorf("%q becomes %q", name, below)
		}
	})
}
