package chaos

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// sqlite is one node on one file.
type sqlite struct{}

func (sqlite) name() string { return "sqlite" }
func (sqlite) nodes() int   { return 1 }

func (sqlite) config(w *world, _ int) string { return fmt.Sprintf("path: %q", sqliteFile(w)) }

func sqliteFile(w *world) string { return filepath.Join(w.folder, "db", "f.db") }

func (sqlite) faults() []fault {
	return []fault{{"another writer", anotherWriter}, {"disk full", diskFull}}
}

// prepare gives the file a disk of its own that can be filled, where the system lets it.
func (sqlite) prepare(w *world) {
	folder := filepath.Dir(sqliteFile(w))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := syscall.Mount("chaos", folder, "tmpfs", 0, "size=64m"); err != nil {
		w.count(func(t *tally) { t.faults["a disk that can be filled: "+err.Error()]++ })
		return
	}
	w.disk = folder
	w.t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
}

// diskFull fills the disk for a while.
func diskFull(ctx context.Context, w *world) {
	if w.disk == "" {
		return
	}
	filler := filepath.Join(w.disk, "filler")
	file, err := os.Create(filler)
	if err != nil {
		w.violate("harness", "%v", err)
		return
	}
	_, err = io.Copy(file, endless{})
	_ = file.Close()
	w.fault("the disk is full: %v", err)
	pause(ctx, w.between(300*time.Millisecond, 1500*time.Millisecond))
	_ = os.Remove(filler)
	w.fault("the disk has room again")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// anotherWriter holds the file's lock for a while, for longer than a lease too, as a person with a shell may.
func anotherWriter(ctx context.Context, w *world) {
	shell := exec.Command("sqlite3", "-bail", sqliteFile(w))
	in, err := shell.StdinPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		w.count(func(t *tally) { t.faults["no sqlite3 to write beside us"]++ })
		return
	}
	w.fault("another process holds the file's lock")
	_, _ = io.WriteString(in, ".timeout 5000\nBEGIN IMMEDIATE;\nCREATE TABLE another(a);\n")
	pause(ctx, w.between(500*time.Millisecond, 4*time.Second))
	_, _ = io.WriteString(in, "ROLLBACK;\n")
	_ = in.Close()
	_ = shell.Wait()
	w.fault("the file's lock is free")
}
