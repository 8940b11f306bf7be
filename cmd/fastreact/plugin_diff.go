package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

func newPluginDiff(p program) *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use: "diff OLD NEW", Short: "Say what a new version of a plugin widens", Args: exactly("OLD", "NEW"),
		Long: "Compares two versions of a plugin, each a file or a folder with plugin.wasm: what they ask for, what they\n" +
			"judge, and what they answer to the vectors that either of them ships. Every change widens, narrows or is neutral;\n" +
			"what is not provably equal or narrower widens. Ends with 1 when anything widens.",
		Example: "  fastreact plugin diff reviewed.wasm my-policy/plugin.wasm",
		RunE: func(command *cobra.Command, args []string) error {
			report, err := host.DiffPlugins(command.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(p.out, report)
			} else {
				showDiff(p, report)
			}
			if err == nil && report.Widens {
				return errQuiet
			}
			return err
		},
	}
	jsonFlag(command, &asJSON)
	return command
}

func showDiff(p program, report host.PluginDiffReport) {
	for _, side := range []host.PluginVersion{report.Old, report.New} {
		fmt.Fprintf(p.out, "%s  %s %s, %s  %s\n", onScreen(side.Digest), onScreen(side.Name), onScreen(side.Version), side.Kind, onScreen(side.Path))
	}
	counts := map[string]int{}
	for _, c := range report.Changes {
		counts[string(c.Effect)]++
		fmt.Fprintf(p.out, "%-8s %s: %s%s\n", c.Effect, onScreen(headOf(c)), onScreen(c.Why), onScreen(sidesOf(c)))
	}
	fmt.Fprintf(p.out, "%d widen, %d narrow, %d neutral; %s run on both\n",
		counts["widens"], counts["narrows"], counts["neutral"], counted(report.Vectors, "vector"))
}

// headOf says what a change is about; one word is enough where both are the same.
func headOf(c host.PluginChange) string {
	if c.What == c.Where {
		return c.What
	}
	return c.What + " " + c.Where
}

func sidesOf(c host.PluginChange) string {
	sides := []string{}
	if c.Old != "" {
		sides = append(sides, "was "+c.Old)
	}
	if c.New != "" {
		sides = append(sides, "is "+c.New)
	}
	if len(sides) == 0 {
		return ""
	}
	return " (" + strings.Join(sides, ", ") + ")"
}
