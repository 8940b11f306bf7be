// Command make builds the plugins that come with the binary into plugins/builtin/dist. Run it in the root of the Go
// module, before the binary is built:
//
//	go run ./plugins/builtin/make
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/fastreact/fastreact/plugins/builtin"
	"github.com/fastreact/fastreact/plugins/builtin/assemble"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := buildAll(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func buildAll(ctx context.Context) error {
	for _, plugin := range builtin.Plugins() {
		built, err := assemble.Build(ctx, ".", plugin)
		if err != nil {
			return err
		}
		target := filepath.Join("plugins", "builtin", "dist", plugin.Name+".wasm")
		if err := os.Rename(built, target); err != nil {
			return fmt.Errorf("place plugin %s: %w", plugin.Name, err)
		}
		fmt.Println(target)
	}
	return nil
}
