// Package patch fits the interpreter mvdan.cc/sh to a sandbox without processes while the module is built: pipes of the
// operating system become pipes in memory. The interpreter's source stays where the module cache has it; the build is
// told of a replacement that exists in no folder: the source with two files changed. When the source is not the one
// that is known, there is no build.
package patch

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is what is patched, and the only version that is known.
const (
	module  = "mvdan.cc/sh/v3"
	version = "v3.14.1"
)

// What the source says, and what it is made to say. Each must be found exactly once.
const (
	condition    = "//go:build !js\n"
	newCondition = "//go:build !js && !wasip1\n"
	pipe         = "func newPipe() (stdinFile, *os.File, error) {\n\treturn os.Pipe()\n}\n"
)

//go:embed pipe.txt
var pipeSource []byte

// replacement is the folder, below the Go module, that the build takes for the interpreter's. It is never made, but its
// name stands in the built module, so it is the same wherever the build runs.
const replacement = "plugins/shell/patch/source"

// Overlay writes what differs into folder scratch and returns the file for `go build -overlay`. dir is any folder of the
// Go module that is built.
func Overlay(ctx context.Context, dir, scratch string) (string, error) {
	source, err := sourceDir(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("patch %s: %w", module, err)
	}
	o := &overlay{scratch: scratch, Replace: map[string]string{}}
	if err := o.fill(ctx, dir, source); err != nil {
		return "", fmt.Errorf("patch %s %s: %w", module, version, err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("patch %s: %w", module, err)
	}
	return o.write("overlay.json", text)
}

// overlay tells the build which file to read in the place of which.
type overlay struct {
	Replace map[string]string
	scratch string
}

func (o *overlay) fill(ctx context.Context, dir, source string) error {
	command := exec.CommandContext(ctx, "go", "env", "GOMOD")
	command.Dir = dir
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("go env GOMOD: %w", err)
	}
	modFile := string(bytes.TrimSpace(text))
	shown := filepath.Join(filepath.Dir(modFile), filepath.FromSlash(replacement))
	if err := o.show(source, shown); err != nil {
		return err
	}
	changed, err := files(source)
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(modFile)
	if err != nil {
		return err
	}
	mod = fmt.Appendf(mod, "\nreplace %s => ./%s\n", module, replacement)
	if o.Replace[modFile], err = o.write("go.mod", mod); err != nil {
		return err
	}
	for name, data := range changed {
		if o.Replace[filepath.Join(shown, filepath.FromSlash(name))], err = o.write(filepath.Base(name), data); err != nil {
			return err
		}
	}
	return nil
}

// show lets the build see every source file of the interpreter in the replacement's folder.
func (o *overlay) show(source, shown string) error {
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := entry.Name()
		if name != "go.mod" && (!strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go")) {
			return nil
		}
		below, err := filepath.Rel(source, path)
		if err == nil {
			o.Replace[filepath.Join(shown, below)] = path
		}
		return err
	})
}

func (o *overlay) write(name string, data []byte) (string, error) {
	path := filepath.Join(o.scratch, name)
	return path, os.WriteFile(path, data, 0o600)
}

// sourceDir returns the folder of the interpreter's source, downloading it when it is not there.
func sourceDir(ctx context.Context, dir string) (string, error) {
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	command.Dir = dir
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download: %w\n%s", err, bytes.TrimSpace(text))
	}
	var found struct{ Version, Dir string }
	if err := json.Unmarshal(text, &found); err != nil {
		return "", fmt.Errorf("go mod download: %w", err)
	}
	if found.Version != version {
		return "", fmt.Errorf("version %s is not the one this patch was written for (%s); read its interp/stdin_os.go, then adapt plugins/shell/patch",
			found.Version, version)
	}
	return found.Dir, nil
}

// files returns the files that differ, by their path below source.
func files(source string) (map[string][]byte, error) {
	const old, added = "interp/stdin_os.go", "interp/stdin_wasip1.go"
	if _, err := os.Stat(filepath.Join(source, added)); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s exists already", added)
	}
	data, err := os.ReadFile(filepath.Join(source, old))
	if err != nil {
		return nil, err
	}
	text := string(data)
	for _, expected := range []string{condition, pipe} {
		if strings.Count(text, expected) != 1 {
			return nil, fmt.Errorf("%s does not hold %q exactly once: the source changed", old, expected)
		}
	}
	return map[string][]byte{
		old:   []byte(strings.Replace(text, condition, newCondition, 1)),
		added: pipeSource,
	}, nil
}
