package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
)

// built is what build prints for scripts.
type built struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
	Entry  string `json:"entry"` // a line for plugins.load
}

func newPluginBuild(p program) *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use: "build DIR", Short: "Build the Go or C plugin in a folder into DIR/plugin.wasm", Args: exactly("DIR"),
		Long: "Checks DIR/manifest.json, compiles the Go package or the C files in DIR to WebAssembly and writes\n" +
			"DIR/plugin.wasm with the manifest in it. The same sources give the same bytes. It needs the go command, or clang\n" +
			"and lld for C.",
		Example: "  fastreact plugin build my-policy",
		RunE: func(command *cobra.Command, args []string) error {
			path, err := build.Dir(command.Context(), args[0])
			if errors.Is(err, build.ErrNoPlugin) {
				return advice{err, "A plugin is a folder with manifest.json and a Go main package or C files; `fastreact plugin new DIR` makes one."}
			}
			if err != nil {
				return err
			}
			survey, err := host.LookAtPlugin(path, "")
			if err != nil {
				return err
			}
			made := built{path, survey.Digest, fmt.Sprintf("{path: %q, sha256: %q}", path, strings.TrimPrefix(survey.Digest, "sha256:"))}
			if asJSON {
				return writeJSON(p.out, made)
			}
			next := fmt.Sprintf("To load it, list it in the configuration:\n  plugins: {load: [%s]}", made.Entry)
			if survey.Kind == sdk.KindGuard {
				next += "\nIt is asked about the answers of /api/chat and /api/ai_ops, after the built-in guards."
			}
			_, err = fmt.Fprintf(p.out, "%s\n%s\n%s\n", onScreen(made.Path), made.Digest, next)
			return err
		},
	}
	jsonFlag(command, &asJSON)
	return command
}
