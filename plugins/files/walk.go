package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// walk visits the regular files at or below base in order of paths, until visit says no. Links are not followed, so
// that a walk always ends; what may not be read is passed over. The note is a sentence when the walk met its bound.
func (f folder) walk(ctx context.Context, base string, visit func(string, fs.DirEntry) bool) (note string, err error) {
	seen, unread := 0, 0
	err = fs.WalkDir(f.root.FS(), base, func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return errors.New("the call was ended before the search was complete")
		}
		if err != nil {
			unread++
			return passOver(entry)
		}
		if seen++; seen > maxVisited {
			note = fmt.Sprintf(" Stopped after looking at %d entries; search a folder further down.", maxVisited)
			return fs.SkipAll
		}
		if entry.Type().IsRegular() && !visit(name, entry) {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if unread > 0 && note == "" {
		note = fmt.Sprintf(" %s could not be read.", plural(unread, "entry"))
	}
	return note, nil
}

func passOver(entry fs.DirEntry) error {
	if entry != nil && entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}
