package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// work does what an honest tool does, links inside its folder included.
func work() error {
	return errors.Join(
		os.MkdirAll("/w/p/q", 0o700),
		os.WriteFile("/w/ok.txt", []byte("fine"), 0o600),
		os.Symlink("../../ok.txt", "/w/p/q/up"),
		holds("/w/p/q/up", "fine"),
		appendTo("/w/ok.txt", "+more"),
		holds("/w/ok.txt", "fine+more"),
		os.Truncate("/w/ok.txt", 4),
		os.Rename("/w/ok.txt", "/w/p/moved.txt"),
		holds("/w/p/moved.txt", "fine"),
		globs("/w/p/*.txt", 1),
		os.RemoveAll("/w/p"),
	)
}

func holds(path, want string) error {
	text, err := os.ReadFile(path)
	if err == nil && string(text) != want {
		err = fmt.Errorf("%s holds %q, not %q", path, text, want)
	}
	return err
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func globs(pattern string, want int) error {
	found, err := filepath.Glob(pattern)
	if err == nil && len(found) != want {
		err = fmt.Errorf("%s finds %v", pattern, found)
	}
	return err
}
