package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// LockName is the usual name of a lock file.
const LockName = "plugins.lock"

// Lock pins modules: what somebody reviewed under each path. Paths are as the configuration writes them, with slashes.
type Lock map[string]Digest

type lockFile struct {
	Version int             `json:"version"` // 1
	Plugins json.RawMessage `json:"plugins"`
}

// ParseLock reads a lock file strictly: version 1, no unknown and no repeated keys, nothing but digests, nothing behind.
func ParseLock(text []byte) (Lock, error) {
	if len(text) > MaxLockBytes {
		return nil, fmt.Errorf("it has %d bytes, the limit is %d", len(text), MaxLockBytes)
	}
	var file lockFile
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("it is no lock file; write it again with `fastreact plugin lock`: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the JSON object")
	}
	if err := onceEach(text, "version", "plugins"); err != nil {
		return nil, err
	}
	if file.Version != 1 {
		return nil, fmt.Errorf("it has version %d, this program reads version 1", file.Version)
	}
	return parsePins(file.Plugins)
}

// onceEach reports a key that stands twice in an object: the second would silently count.
func onceEach(object []byte, known ...string) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("it is no lock file: %w", err)
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		key, isKey := token.(string)
		var value json.RawMessage
		if err == nil {
			err = decoder.Decode(&value)
		}
		if err != nil || !isKey {
			return errors.New("it is no lock file")
		}
		if seen[key] {
			return fmt.Errorf("%.200q stands in it twice", key)
		}
		if known != nil && !slices.Contains(known, key) { // encoding/json takes Version for version
			return fmt.Errorf("unknown key %.200q", key)
		}
		seen[key] = true
	}
	return nil
}

func parsePins(object json.RawMessage) (Lock, error) {
	var raw map[string]string
	if err := json.Unmarshal(object, &raw); err != nil || raw == nil {
		return nil, errors.New(`"plugins" must be an object of paths and digests`)
	}
	if err := onceEach(object); err != nil {
		return nil, err
	}
	lock, files := Lock{}, map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(raw)) {
		digest, err := ParseDigest(raw[path])
		if err != nil {
			return nil, fmt.Errorf("%.200q: %w", path, err)
		}
		if path == "" {
			return nil, errors.New("a path in it is empty")
		}
		whole, err := absolute(path)
		if err != nil {
			return nil, fmt.Errorf("%.200q: %w", path, err)
		}
		if other, twice := files[whole]; twice {
			return nil, fmt.Errorf("%.200q and %.200q are one file", other, path)
		}
		lock[path], files[whole] = digest, path
	}
	return lock, nil
}

func absolute(path string) (string, error) { return filepath.Abs(filepath.FromSlash(path)) }

// ReadLock reads a lock file from disk. The error wraps os.ErrNotExist when there is none.
func ReadLock(path string) (Lock, error) {
	text, err := ReadFile(path, MaxLockBytes)
	if err == nil {
		var lock Lock
		if lock, err = ParseLock(text); err == nil {
			return lock, nil
		}
	}
	return nil, fmt.Errorf("lock file %s: %w", path, err)
}

// Encode writes a lock, sorted by path.
func (l Lock) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(struct {
		Version int               `json:"version"`
		Plugins map[string]Digest `json:"plugins"`
	}{1, orNone(l)}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode lock: %w", err)
	}
	return append(text, '\n'), nil
}

func orNone(l Lock) Lock {
	if l == nil {
		return Lock{}
	}
	return l
}

// Write puts a lock in the place of the file at path. Readers see the old one or the new one, whole.
func (l Lock) Write(path string) error {
	text, err := l.Encode()
	if err != nil {
		return err
	}
	return Replace(path, text, 0o644)
}

// Pin returns what a lock says about the module at a path. The spelling of the path does not matter.
func (l Lock) Pin(path string) (Digest, bool) {
	if digest, there := l[Key(path)]; there {
		return digest, true
	}
	whole, err := absolute(path)
	if err != nil {
		return "", false
	}
	for each, digest := range l {
		if same, err := absolute(each); err == nil && same == whole {
			return digest, true
		}
	}
	return "", false
}

// Key is how a lock writes a path.
func Key(path string) string { return filepath.ToSlash(filepath.Clean(path)) }

// Replace writes a file whole, in the place of the one at path.
func Replace(path string, content []byte, mode os.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}
