package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// ErrNoGo reports that a plugin in Go cannot be built here.
var ErrNoGo = errors.New("the go command was not found; a plugin in Go needs Go 1.26 or newer on PATH (https://go.dev/dl)")

// compileGo compiles the main package in dir for wasip1. An empty overlay means none.
func compileGo(ctx context.Context, dir, overlay, output string) error {
	golang, err := exec.LookPath("go")
	if err != nil {
		return ErrNoGo
	}
	command := exec.CommandContext(ctx, golang, "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-overlay="+overlay, "-o", output, ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWASM=", "GOEXPERIMENT=")
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(text))
	}
	return nil
}
