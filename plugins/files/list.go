package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// listFiles lists one folder, or a folder and everything below it, one entry a line with type and size.
func listFiles(ctx context.Context, f folder, args json.RawMessage) (string, error) {
	var given string
	var recursive bool
	if err := (fields{"path": &given, "recursive": &recursive}).read(args); err != nil {
		return "", err
	}
	name, err := dir(given)
	if err != nil {
		return "", err
	}
	if err := f.mustBeFolder(name); err != nil {
		return "", err
	}
	list := listing{folder: f}
	if err := list.add(ctx, name, recursive); err != nil {
		return "", err
	}
	return list.text(name), nil
}

func (f folder) mustBeFolder(name string) error {
	info, err := f.root.Stat(name)
	switch {
	case err != nil:
		return trouble(name, err)
	case !info.IsDir():
		return fmt.Errorf("%q is a file, not a folder; use read_file to read it", name)
	}
	return nil
}

// listing collects lines until it is full.
type listing struct {
	folder folder
	lines  []string
	full   bool
}

func (l *listing) add(ctx context.Context, name string, recursive bool) error {
	entries, err := l.folder.entries(name)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return errors.New("the call was ended before the list was complete")
		}
		if len(l.lines) == maxListed {
			l.full = true
			return nil
		}
		below := path.Join(name, entry.Name())
		l.lines = append(l.lines, line(below, entry))
		if recursive && entry.IsDir() {
			if err := l.add(ctx, below, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// entries reads a folder in order of names. A folder too large to sort is refused rather than half shown.
func (f folder) entries(name string) ([]fs.DirEntry, error) {
	handle, err := f.root.Open(name)
	if err != nil {
		return nil, trouble(name, err)
	}
	defer handle.Close()
	entries, err := handle.ReadDir(maxVisited + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, trouble(name, err)
	}
	if len(entries) > maxVisited {
		return nil, fmt.Errorf("%q holds more than %d entries; use glob_files with a narrower pattern", name, maxVisited)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func line(name string, entry fs.DirEntry) string {
	switch {
	case entry.IsDir():
		return "folder " + name + "/"
	case entry.Type()&fs.ModeSymlink != 0:
		return "link   " + name
	case !entry.Type().IsRegular():
		return "other  " + name
	}
	info, err := entry.Info()
	if err != nil {
		return "file   " + name
	}
	return fmt.Sprintf("file   %s (%s)", name, plural(int(info.Size()), "byte"))
}

func (l *listing) text(name string) string {
	if len(l.lines) == 0 {
		return fmt.Sprintf("[%s is empty.]", shown(name))
	}
	text := strings.Join(l.lines, "\n")
	if l.full {
		text += fmt.Sprintf("\n[Cut after %s; list a folder further down, or use glob_files.]", plural(maxListed, "entry"))
	}
	return text
}

// shown is a folder's name as a sentence begins with it.
func shown(name string) string {
	if name == "." {
		return "The workspace"
	}
	return name
}
