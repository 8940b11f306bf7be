package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
)

// compileGo compiles the main package in dir for wasip1. An empty overlay means none.
func compileGo(ctx context.Context, dir, overlay, output string) error {
	command := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-overlay="+overlay, "-o", output, ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWASM=", "GOEXPERIMENT=")
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(text))
	}
	return nil
}
