// Package assemble builds one of the plugins that come with the binary, as its sources need it.
package assemble

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fastreact/fastreact/plugins/builtin"
	"github.com/fastreact/fastreact/plugins/shell/patch"
	"github.com/fastreact/fastreact/sdk/build"
)

// Build builds a plugin whose sources lie below root, the folder of the Go module, and returns the path of the module.
func Build(ctx context.Context, root string, plugin builtin.Plugin) (string, error) {
	dir := filepath.Join(root, filepath.FromSlash(plugin.Dir))
	if plugin.Name != "shell" {
		return build.Dir(ctx, dir)
	}
	scratch, err := os.MkdirTemp("", "fastreact-patch-")
	if err != nil {
		return "", fmt.Errorf("build plugin %s: %w", plugin.Name, err)
	}
	defer os.RemoveAll(scratch)
	overlay, err := patch.Overlay(ctx, dir, scratch)
	if err != nil {
		return "", fmt.Errorf("build plugin %s: %w", plugin.Name, err)
	}
	return build.Overlaid(ctx, dir, overlay)
}
