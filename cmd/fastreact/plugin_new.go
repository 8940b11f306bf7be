package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/scaffold"
)

func newPluginNew(p program) *cobra.Command {
	var wish scaffold.Wish
	kind, asJSON := "", false
	command := &cobra.Command{
		Use: "new DIR", Short: "Make the folder of a new plugin, ready to build and test", Args: exactly("DIR"),
		Long: "Writes a small working plugin into DIR: sources, manifest.json, cases for `fastreact plugin test` and a README.\n" +
			"The SDK comes along, so that it builds anywhere, without a network. A folder that is not empty is left alone.",
		Example: "  fastreact plugin new --kind policy --lang go my-policy",
		RunE: func(_ *cobra.Command, args []string) error {
			wish.Dir, wish.Kind = args[0], sdk.Kind(kind)
			written, err := scaffold.Write(wish)
			switch {
			case errors.Is(err, scaffold.ErrNotEmpty):
				return advice{err, "Choose another folder, or add --force to replace the files of the same names."}
			case errors.Is(err, scaffold.ErrName):
				return usageError{fmt.Errorf("%w; name it with --name", err)}
			case errors.Is(err, scaffold.ErrKind) || errors.Is(err, scaffold.ErrLang):
				return usageError{err}
			case err != nil:
				return err
			}
			if asJSON {
				return writeJSON(p.out, map[string]any{"dir": wish.Dir, "kind": wish.Kind, "lang": wish.Lang, "files": written})
			}
			dir := onScreen(wish.Dir)
			fmt.Fprintf(p.out, "a %s plugin in %s\n", wish.Kind, dir)
			for _, name := range written {
				fmt.Fprintf(p.out, "  %s/%s\n", dir, name)
			}
			fmt.Fprintf(p.out, "Next:\n  fastreact plugin build %s\n  fastreact plugin test %s\n", dir, dir)
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&kind, "kind", "policy", "tool, policy, scope or guard")
	flags.StringVar(&wish.Lang, "lang", "go", "go or c")
	flags.StringVar(&wish.Name, "name", "", "the plugin's name (default: the folder's name)")
	flags.BoolVar(&wish.Force, "force", false, "write into a folder that is not empty; files of the same names are replaced")
	jsonFlag(command, &asJSON)
	return command
}
