package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// inside returns where below the folder a member belongs. A name that is absolute loses its /, one that climbs with ..
// belongs nowhere.
func inside(name string, strip int) (string, error) {
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			return "", errors.New("member name contains '..'")
		}
	}
	parts := strings.Split(strings.Trim(path.Clean("/"+name), "/"), "/")
	if strip >= len(parts) || parts[0] == "" {
		return "", nil
	}
	return path.Join(parts[strip:]...), nil
}

// extract writes one member.
func (a *archiver) extract(h *tar.Header, content io.Reader) {
	name, err := inside(h.Name, a.strip)
	if err != nil {
		a.fail("%s: %v; skipped", h.Name, err)
		return
	}
	if strings.HasPrefix(h.Name, "/") && !a.warned {
		a.warned = true
		fmt.Fprintln(a.c.Err, "tar: Removing leading `/' from member names")
	}
	if name == "" {
		return
	}
	if a.o.Has("v") {
		a.list(h)
	}
	target := path.Join(a.dir, name)
	if err := a.place(h, target, content); err != nil {
		a.fail("%s: %s", h.Name, command.Reason(err))
	}
}

func (a *archiver) place(h *tar.Header, target string, content io.Reader) error {
	disk := a.c.Disk
	if a.wantsOut {
		_, err := io.Copy(a.c.Out, content)
		return err
	}
	if h.Typeflag == tar.TypeDir {
		return disk.MkdirAll(target, 0o755)
	}
	if err := a.clear(target); err != nil {
		return err
	}
	mode := fs.FileMode(h.Mode).Perm() | 0o600
	switch h.Typeflag {
	case tar.TypeReg:
		return a.file(h, target, mode, content)
	case tar.TypeSymlink:
		if path.IsAbs(h.Linkname) || !fs.ValidPath(strings.TrimPrefix(path.Join(path.Dir(target), h.Linkname), "/")) || escapes(a.dir, target, h.Linkname) {
			return fmt.Errorf("symbolic link to %s leads out of the folder; skipped", h.Linkname)
		}
		return disk.Symlink(h.Linkname, target)
	case tar.TypeLink:
		name, err := inside(h.Linkname, a.strip)
		if err != nil || name == "" {
			return fmt.Errorf("hard link to %s leads out of the folder; skipped", h.Linkname)
		}
		return disk.Link(path.Join(a.dir, name), target)
	}
	return errors.New("neither a file nor a folder nor a link; skipped")
}

// escapes reports whether a relative link leaves the folder that is unpacked into.
func escapes(dir, target, link string) bool {
	depth := strings.Count(strings.TrimPrefix(strings.TrimPrefix(path.Dir(target), dir), "/")+"/", "/")
	if path.Dir(target) == dir {
		depth = 0
	}
	for _, part := range strings.Split(link, "/") {
		switch part {
		case "", ".":
		case "..":
			depth--
		default:
			depth++
		}
		if depth < 0 {
			return true
		}
	}
	return false
}

// clear makes room for a member: the folder above exists, and what stands there is gone. A link is never written
// through.
func (a *archiver) clear(target string) error {
	if err := a.c.Disk.MkdirAll(path.Dir(target), 0o755); err != nil {
		return err
	}
	info, err := a.c.Disk.Lstat(target)
	switch {
	case err != nil:
		return nil
	case a.o.Has("k"):
		return fs.ErrExist
	case info.IsDir():
		return nil
	}
	return a.c.Disk.Remove(target)
}

func (a *archiver) file(h *tar.Header, target string, mode fs.FileMode, content io.Reader) error {
	file, err := a.c.Disk.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return a.c.Disk.Chtimes(target, h.ModTime, h.ModTime)
}
