package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// globFiles lists the files whose path matches a pattern, in order of paths.
func globFiles(ctx context.Context, f folder, args json.RawMessage) (string, error) {
	var given, pattern string
	if err := (fields{"path": &given, "pattern": &pattern}).read(args); err != nil {
		return "", err
	}
	name, err := dir(given)
	if err != nil {
		return "", err
	}
	if err := checkGlob("pattern", pattern); err != nil {
		return "", err
	}
	if err := f.mustBeFolder(name); err != nil {
		return "", err
	}
	base, rest := doublestar.SplitPattern(strings.TrimPrefix(pattern, "/"))
	found, note, err := f.glob(ctx, path.Join(name, base), rest)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return fmt.Sprintf("[No file matches %q.%s]", pattern, note), nil
	}
	text := strings.Join(found, "\n")
	if note != "" {
		text += "\n[" + strings.TrimSpace(note) + "]"
	}
	return text, nil
}

func checkGlob(argument, pattern string) error {
	switch {
	case pattern == "":
		return fmt.Errorf("the argument %q is required", argument)
	case len(pattern) > maxPattern:
		return fmt.Errorf("the argument %q is longer than %d bytes", argument, maxPattern)
	case strings.ContainsRune(pattern, 0):
		return fmt.Errorf("the argument %q contains a NUL character; remove it", argument)
	case strings.Count(pattern, "{") > maxBraces:
		return fmt.Errorf("%q has more than %d braces", pattern, maxBraces)
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("%q is no valid pattern; use forms like *.md, src/**/*.go or {a,b}.txt", pattern)
	}
	for _, part := range strings.Split(pattern, "/") {
		if part == ".." {
			return fmt.Errorf("%q %w", pattern, errOutside)
		}
	}
	return nil
}

// glob walks below base and returns what matches, with a sentence when it stopped early.
func (f folder) glob(ctx context.Context, base, pattern string) (found []string, note string, err error) {
	if _, err := f.root.Stat(base); errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	note, err = f.walk(ctx, base, func(name string, _ fs.DirEntry) bool {
		if doublestar.MatchUnvalidated(pattern, under(base, name)) {
			found = append(found, name)
		}
		return len(found) < maxGlobbed
	})
	if len(found) == maxGlobbed {
		note = fmt.Sprintf(" Cut after %d paths; use a narrower pattern.", maxGlobbed)
	}
	return found, note, err
}

// under is the path of name as seen from the folder base.
func under(base, name string) string {
	if base == "." {
		return name
	}
	if base == name {
		return path.Base(name)
	}
	return strings.TrimPrefix(name, base+"/")
}
