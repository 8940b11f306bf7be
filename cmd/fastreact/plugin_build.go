package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/sdk/build"
)

func newPluginBuild(p program) *cobra.Command {
	return &cobra.Command{
		Use: "build DIR", Short: "Build the Go plugin in a folder into DIR/plugin.wasm", Args: exactly("DIR"),
		Long: "Checks DIR/manifest.json, compiles the Go package in DIR to WebAssembly and writes DIR/plugin.wasm with\n" +
			"the manifest in it. The same sources give the same bytes. It needs the Go toolchain.",
		RunE: func(command *cobra.Command, args []string) error {
			path, err := build.Dir(command.Context(), args[0])
			if err != nil {
				return advice{err, "A plugin is a folder of a Go module with manifest.json and a main package, such as examples/policy-only-notes.\n" +
					"It is compiled by the go command, which must be on PATH."}
			}
			survey, err := host.LookAtPlugin(path, "")
			if err != nil {
				return err
			}
			fmt.Fprintf(p.out, "%s\n%s\nTo load it, list it in the configuration:\n  plugins: {load: [{path: %q, sha256: %q}]}\n",
				onScreen(path), survey.Digest, path, strings.TrimPrefix(survey.Digest, "sha256:"))
			return nil
		},
	}
}
