package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// openCacheDir makes sure that dir is a folder of ours that nobody else can write to: what lies in it is executed.
// Somebody else's folder is refused. One that was open to others is closed and emptied.
func openCacheDir(dir string, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make wasm cache: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("check wasm cache: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("check wasm cache: %s is not a folder", dir)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("check wasm cache: %s belongs to somebody else; its content would be executed", dir)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	log.Warn("wasm cache was open to others: closed and emptied", slog.String("dir", dir))
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("close wasm cache: %w", err)
	}
	return emptyDir(dir)
}

func emptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("empty wasm cache: %w", err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("empty wasm cache: %w", err)
		}
	}
	return nil
}

// cacheEntry is the folder of one metered module and its compiled code, sealed by a digest that stands beside it. An
// entry that does not match its seal is damaged, and is made again.
type cacheEntry struct{ dir string }

func (c cacheEntry) sealFile() string { return c.dir + ".sha256" }

// proofFile says with which program, and under which terms, the module was started and tried.
func (c cacheEntry) proofFile() string { return c.dir + ".proof" }

// prepare removes the entry unless it is whole.
func (c cacheEntry) prepare() error {
	want, err := os.ReadFile(c.sealFile())
	if err == nil {
		got, hashErr := hashDir(c.dir)
		if hashErr == nil && got == string(want) {
			return nil
		}
	}
	return c.remove()
}

func (c cacheEntry) remove() error {
	return errors.Join(os.RemoveAll(c.proofFile()), os.RemoveAll(c.sealFile()), os.RemoveAll(c.dir))
}

func (c cacheEntry) seal() error {
	sum, err := hashDir(c.dir)
	if err != nil {
		return fmt.Errorf("seal wasm cache: %w", err)
	}
	if err := c.place(c.sealFile(), []byte(sum)); err != nil {
		return fmt.Errorf("seal wasm cache: %w", err)
	}
	return nil
}

// place makes a file that is there whole or not at all, for the owner only. Another process may place the same one.
func (c cacheEntry) place(path string, parts ...[]byte) error {
	file, err := os.CreateTemp(filepath.Dir(c.dir), ".draft-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	for _, part := range parts {
		if _, err := file.Write(part); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// look says what stands in the entry without reading it: whether it has changed since the last look.
func (c cacheEntry) look() string {
	var seen strings.Builder
	_ = filepath.WalkDir(c.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			fmt.Fprintf(&seen, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	}) // what cannot be seen is missing in both looks, and its seal breaks
	return seen.String()
}

// hashDir hashes names and contents of all regular files below dir, in order.
func hashDir(dir string) (string, error) {
	hash := sha256.New()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		return hashFile(hash, path)
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func hashFile(hash io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	fmt.Fprintf(hash, "%q ", filepath.Base(path))
	size, err := io.Copy(hash, file)
	fmt.Fprintf(hash, " %d\n", size)
	return err
}
