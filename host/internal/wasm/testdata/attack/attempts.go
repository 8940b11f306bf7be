package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// attack makes every attempt in order: some use what an earlier one left behind.
func attack() []attempt {
	var all []attempt
	try := func(name string, step func() (bool, any)) {
		reached, detail := step()
		all = append(all, attempt{name, reached, fmt.Sprint(detail)})
	}
	lexical(try)
	planted(try)
	made(try)
	changing(try)
	deep(try)
	return all
}

type tryer func(name string, step func() (bool, any))

// secret reads a file and reports whether it is the one outside.
func secret(path string) func() (bool, any) {
	return func() (bool, any) {
		text, err := os.ReadFile(path)
		return strings.Contains(string(text), "OUTSIDE"), err
	}
}

// succeeds counts success as reaching outside.
func succeeds(step func() error) func() (bool, any) {
	return func() (bool, any) {
		err := step()
		return err == nil, err
	}
}

func lexical(try tryer) {
	try("climb with dots", secret("/w/../secret.txt"))
	try("climb with dots from below", secret("/w/sub/../../secret.txt"))
	try("climb without package os", func() (bool, any) {
		fd, err := syscall.Open("/w/sub/../../secret.txt", syscall.O_RDONLY, 0)
		if err == nil {
			_ = syscall.Close(fd)
		}
		return err == nil, err
	})
}

func planted(try tryer) {
	try("planted relative link", secret("/w/planted-file"))
	try("planted absolute link", secret("/w/planted-file-abs"))
	try("planted relative folder link", secret("/w/planted-dir/secret.txt"))
	try("planted absolute folder link", secret("/w/planted-dir-abs/secret.txt"))
	try("planted link to a link", secret("/w/planted-chain"))
	try("planted link to the root of a process", secret("/w/planted-proc/secret.txt"))
	try("list through a link", func() (bool, any) {
		entries, err := os.ReadDir("/w/planted-dir")
		return len(entries) > 0, err
	})
	try("stat through a link", succeeds(func() error {
		_, err := os.Stat("/w/planted-dir/secret.txt")
		return err
	}))
	try("read a link outside", succeeds(func() error {
		_, err := os.Readlink("/w/planted-dir/link-outside")
		return err
	}))
}

func made(try tryer) {
	try("make an absolute link", succeeds(func() error { return os.Symlink("/", "/w/made-abs") }))
	try("make a relative link and read", func() (bool, any) {
		err := os.Symlink("../secret.txt", "/w/made-file")
		reached, _ := secret("/w/made-file")()
		return reached, err
	})
	try("make a folder link and read", func() (bool, any) {
		err := os.Symlink("..", "/w/made-dir")
		reached, _ := secret("/w/made-dir/secret.txt")()
		return reached, err
	})
}

// changing goes through a planted folder link: the guest could not make one.
func changing(try tryer) {
	const out = "/w/planted-dir/"
	try("write outside", succeeds(func() error { return os.WriteFile(out+"new.txt", []byte("x"), 0o600) }))
	try("make a folder outside", succeeds(func() error { return os.Mkdir(out+"new-dir", 0o700) }))
	try("remove outside", succeeds(func() error { return os.Remove(out + "remove.txt") }))
	try("rename to outside", succeeds(func() error { return os.Rename("/w/own.txt", out+"moved.txt") }))
	try("rename from outside", succeeds(func() error { return os.Rename(out+"steal.txt", "/w/stolen.txt") }))
	try("hard link to outside", func() (bool, any) {
		err := os.Link(out+"secret.txt", "/w/hard")
		reached, _ := secret("/w/hard")()
		return reached, err
	})
	try("set times outside", succeeds(func() error {
		return os.Chtimes(out+"secret.txt", time.Unix(1, 0), time.Unix(1, 0))
	}))
	try("truncate outside", succeeds(func() error { return os.Truncate(out+"truncate.txt", 0) }))
}

func deep(try tryer) {
	try("link that climbs from below", func() (bool, any) {
		_ = os.MkdirAll("/w/a/b", 0o700)
		err := os.Symlink("../../../secret.txt", "/w/a/b/link")
		reached, _ := secret("/w/a/b/link")()
		return reached, err
	})
	try("link that climbs through a link", func() (bool, any) {
		_ = os.Symlink("b", "/w/a/c")
		err := os.Symlink("c/../../../secret.txt", "/w/a/d")
		reached, _ := secret("/w/a/d")()
		return reached, err
	})
	try("harmless link that moves up", func() (bool, any) {
		_ = os.MkdirAll("/w/x/y/z", 0o700)
		_ = os.WriteFile("/w/x/secret.txt", []byte("inside"), 0o600)
		_ = os.Symlink("../../secret.txt", "/w/x/y/z/link")
		err := os.Rename("/w/x/y/z", "/w/z")
		reached, _ := secret("/w/z/link")()
		return reached, err
	})
}
