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
		Use: "build DIR", Short: "Build the Go or C plugin in a folder into DIR/plugin.wasm", Args: exactly("DIR"),
		Long: "Checks DIR/manifest.json, compiles the Go package or the C files in DIR to WebAssembly and writes\n" +
			"DIR/plugin.wasm with the manifest in it. The same sources give the same bytes. It needs the go command, or clang\n" +
			"and lld for C.",
		RunE: func(command *cobra.Command, args []string) error {
			path, err := build.Dir(command.Context(), args[0])
			if err != nil {
				return advice{err, "A plugin is a folder with manifest.json and a Go main package or C files, such as examples/policy-only-notes.\n" +
					"`fastreact plugin new DIR` makes one. It is compiled by the go command or by clang, which must be on PATH."}
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
