package archive

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// create writes an archive of the members.
func (a *archiver) create(ctx context.Context, name string) (err error) {
	if len(a.members) == 0 {
		return errors.New("cowardly refusing to create an empty archive")
	}
	if a.o.Has("j") || a.o.Has("J") {
		return errors.New("archives are written plain or with gzip (-z) here, not with bzip2 or xz")
	}
	var out io.Writer = a.c.Out
	skip := ""
	if name != "-" {
		file, err := a.c.Create(name)
		if err != nil {
			return fmt.Errorf("%s: Cannot open: %s", name, command.Reason(err))
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out, skip = file, path.Clean(a.c.Path(name))
	} else {
		a.listing = a.c.Err
	}
	if a.packed {
		w := gzip.NewWriter(out)
		defer func() { err = errors.Join(err, w.Close()) }()
		out = w
	}
	w := tar.NewWriter(out)
	for _, member := range a.members {
		if err := a.add(ctx, w, member, skip); err != nil {
			return err
		}
	}
	return w.Close()
}

// add writes one member and what lies below it. The archive itself is left out.
func (a *archiver) add(ctx context.Context, w *tar.Writer, name, skip string) error {
	full := path.Join(a.dir, name)
	if path.IsAbs(name) {
		full = path.Clean(name)
	}
	info, err := a.c.Disk.Lstat(full)
	if err == nil && a.o.Has("h") {
		info, err = a.c.Disk.Stat(full)
	}
	if err != nil {
		a.fail("%s: Cannot stat: %s", name, command.Reason(err))
		return nil
	}
	if full == skip || a.excluded(name) || ctx.Err() != nil {
		return nil
	}
	if err := a.write(w, name, full, info); err != nil || !info.IsDir() || a.o.Has("no-recursion") {
		return err
	}
	entries, err := a.c.Disk.ReadDir(full)
	if err != nil {
		a.fail("%s: Cannot open: %s", name, command.Reason(err))
		return nil
	}
	for _, entry := range entries {
		if err := a.add(ctx, w, strings.TrimSuffix(name, "/")+"/"+entry.Name(), skip); err != nil {
			return err
		}
	}
	return nil
}

func (a *archiver) excluded(name string) bool {
	for _, glob := range a.o.Values("exclude") {
		if matches(glob, name) {
			return true
		}
	}
	return false
}

func (a *archiver) write(w *tar.Writer, name, full string, info fs.FileInfo) error {
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		var err error
		if target, err = a.c.Disk.Readlink(full); err != nil {
			a.fail("%s: Cannot read link: %s", name, command.Reason(err))
			return nil
		}
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	header.Name = strings.TrimLeft(name, "/")
	if info.IsDir() && !strings.HasSuffix(header.Name, "/") {
		header.Name += "/"
	}
	header.Uid, header.Gid, header.Uname, header.Gname = 1000, 1000, "user", "user"
	if a.o.Has("v") {
		fmt.Fprintln(a.listing, header.Name)
	}
	if !info.Mode().IsRegular() {
		return w.WriteHeader(header)
	}
	file, err := a.c.Disk.Open(full)
	if err != nil {
		a.fail("%s: Cannot open: %s", name, command.Reason(err))
		return nil
	}
	defer file.Close()
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.CopyN(w, file, header.Size)
	return err
}
