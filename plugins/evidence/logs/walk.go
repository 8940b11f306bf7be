package logs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
)

// candidate is a file that may be read.
type candidate struct {
	root     *os.Root
	path     string // below its folder
	shown    string // path, after the folder's number where there are several
	modified time.Time
}

// For each file that may be read so many names are looked at, in folders that are nested so deep.
const (
	entriesPerFile = 20
	maxDepth       = 16
)

// errEnough ends a walk.
var errEnough = errors.New("enough files")

// walk lists the files that the question is about, newest first. Files that were not written to since the question's
// time are left out.
func (s *search) walk(ctx context.Context, roots []*os.Root) []candidate {
	var files []candidate
	entries := 0
	for i, root := range roots {
		if root == nil {
			s.trouble.unreadable++
			continue
		}
		err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
			if entries++; entries > s.config.Files*entriesPerFile || ctx.Err() != nil {
				s.trouble.unseen, s.trouble.late = ctx.Err() == nil, ctx.Err() != nil
				return errEnough
			}
			switch {
			case err != nil:
				s.trouble.unreadable++
				return skipDir(entry)
			case entry.IsDir():
				return skipDeep(name)
			}
			if file, ok := s.candidate(root, name, entry); ok {
				file.shown = shown(i, len(roots), name)
				files = append(files, file)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			s.trouble.unreadable++
		}
	}
	slices.SortStableFunc(files, func(a, b candidate) int { return b.modified.Compare(a.modified) })
	if len(files) > s.config.Files {
		files, s.trouble.unseen = files[:s.config.Files], true
	}
	return files
}

func skipDir(entry fs.DirEntry) error {
	if entry != nil && entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func skipDeep(name string) error {
	if strings.Count(name, "/") >= maxDepth {
		return fs.SkipDir
	}
	return nil
}

// shown writes a path for the answer: on one line, after the folder's number where there are several.
func shown(index, roots int, name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, name)
	if roots == 1 {
		return name
	}
	return string(rune('1'+min(index, 8))) + ":" + name
}

func (s *search) candidate(root *os.Root, name string, entry fs.DirEntry) (candidate, bool) {
	if !s.asked.paths.matches(name) {
		return candidate{}, false
	}
	if !entry.Type().IsRegular() {
		s.trouble.special++
		return candidate{}, false
	}
	info, err := entry.Info()
	switch {
	case err != nil:
		s.trouble.unreadable++
		return candidate{}, false
	case compressed(name):
		s.trouble.compressed++
		return candidate{}, false
	case !s.asked.since.IsZero() && info.ModTime().Before(s.asked.since):
		return candidate{}, false
	}
	return candidate{root: root, path: name, modified: info.ModTime()}, true
}

func compressed(name string) bool {
	return slices.Contains([]string{".gz", ".zst", ".xz", ".bz2", ".lz4", ".zip"}, strings.ToLower(path.Ext(name)))
}

// openFile opens a file and looks again: what was a file when it was listed may be a pipe by now.
func openFile(one candidate) (*os.File, int64, error) {
	file, err := one.root.OpenFile(one.path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no regular file")
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// begin goes to where reading begins: where the file is longer than may be read, to the first line of its last bytes.
func begin(file io.ReadSeeker, size, budget int64) (skipped bool, err error) {
	if size <= budget {
		return false, nil
	}
	_, err = file.Seek(size-budget, io.SeekStart)
	return true, err
}
