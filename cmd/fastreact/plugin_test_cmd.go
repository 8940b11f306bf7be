package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

// pluginTest is what a person asked to try.
type pluginTest struct {
	update bool
	asJSON bool
}

func newPluginTest(p program) *cobra.Command {
	var asked pluginTest
	command := &cobra.Command{
		Use: "test DIR|FILE", Short: "Run the cases of a plugin in the plugin host", Args: exactly("DIR or FILE"),
		Long: "Runs every case in DIR/cases/*.txtar, and the vectors of the manifest, against DIR/plugin.wasm as a server\n" +
			"would run it: the same sandbox, limits and grants, with a scratch workspace and recorded answers instead of a\n" +
			"network. docs/plugin-authors.md describes the format. Ends with 1 when a case fails, or when there is none.",
		Example: "  fastreact plugin build my-policy\n  fastreact plugin test my-policy",
		RunE: func(command *cobra.Command, args []string) error {
			return asked.run(command.Context(), p, args[0])
		},
	}
	flags := command.Flags()
	flags.BoolVar(&asked.update, "update", false, "let the cases that fail want what came")
	flags.BoolVar(&asked.asJSON, "json", false, "print JSON, for scripts")
	return command
}

func (t pluginTest) run(ctx context.Context, p program, path string) error {
	subject, err := host.OpenPlugin(path)
	if err != nil {
		return err
	}
	report, err := host.TestPlugin(ctx, subject)
	if err != nil {
		return err
	}
	if t.update {
		return t.rewrite(p, subject, report)
	}
	if t.asJSON {
		err = writeJSON(p.out, report)
	} else {
		showOutcomes(p, report)
	}
	if err == nil && !report.OK {
		return errQuiet
	}
	return err
}

func (t pluginTest) rewrite(p program, subject *host.PluginSubject, report host.PluginTestReport) error {
	written, err := host.UpdatePlugin(subject, report)
	for _, path := range written {
		fmt.Fprintf(p.out, "updated %s\n", onScreen(path))
	}
	if err == nil && len(written) == 0 && !report.OK {
		showOutcomes(p, report)
		return errors.New("what differs is no answer; --update leaves it alone")
	}
	return err
}

func showOutcomes(p program, report host.PluginTestReport) {
	failed := 0
	for _, o := range report.Cases {
		if o.OK {
			fmt.Fprintf(p.out, "ok    %s  (%s, gas %d)\n", onScreen(o.Name), o.Op, o.Gas)
			continue
		}
		failed++
		showFailure(p, o)
	}
	fmt.Fprintf(p.out, "%s: %s, %d failed\n", onScreen(report.Plugin), counted(len(report.Cases), "case"), failed)
}

func showFailure(p program, o host.PluginOutcome) {
	fmt.Fprintf(p.out, "FAIL  %s  (%s, gas %d)\n", onScreen(o.Name), o.Op, o.Gas)
	if o.Comment != "" {
		fmt.Fprintf(p.out, "      %s\n", onScreen(o.Comment))
	}
	for _, line := range o.Differences {
		fmt.Fprintf(p.out, "      %s\n", onScreen(line))
	}
	if o.Output != "" {
		fmt.Fprintf(p.out, "      the plugin wrote:\n")
		for line := range strings.Lines(o.Output) {
			fmt.Fprintf(p.out, "      | %s\n", onScreen(strings.TrimSuffix(line, "\n")))
		}
	}
}
