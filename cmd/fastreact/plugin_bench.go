package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

func newPluginBench(p program) *cobra.Command {
	var options host.PluginBenchOptions
	asJSON := false
	command := &cobra.Command{
		Use: "bench DIR|FILE", Short: "Measure what the cases of a plugin cost", Args: exactly("DIR or FILE"),
		Long: "Runs every case of the plugin again and again and prints gas and time of a call, the cold start, and what the\n" +
			"snapshot costs. Gas is the same on every machine and for every run; time is not. Ends with 1 when a case costs\n" +
			"more than its budget: the flags, else the limits gas and wall that the manifest asks for.",
		Example: "  fastreact plugin bench my-policy --budget-gas 200000",
		RunE: func(command *cobra.Command, args []string) error {
			if options.Count < 1 || options.BudgetGas < 0 || options.BudgetTime < 0 {
				return usageError{errors.New("--count must be at least 1, and a budget not negative")}
			}
			subject, err := host.OpenPlugin(args[0])
			if err != nil {
				return err
			}
			warnOfOldModule(p, subject.Path)
			report, err := host.BenchPlugin(command.Context(), subject, options)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(p.out, report)
			} else {
				err = showBench(p, report)
			}
			if err == nil && !report.OK {
				return errQuiet
			}
			return err
		},
	}
	flags := command.Flags()
	flags.IntVar(&options.Count, "count", 200, "calls of each case; a slow case ends earlier")
	flags.Int64Var(&options.BudgetGas, "budget-gas", 0, "most gas of a call")
	flags.DurationVar(&options.BudgetTime, "budget-time", 0, "most time of the median call, such as 200us")
	jsonFlag(command, &asJSON)
	return command
}

func showBench(p program, r host.PluginBenchReport) error {
	lines := []fact{
		{"plugin", r.Plugin},
		{"digest", r.Digest},
		{"mode", r.Mode},
		{"cold start", fmt.Sprintf("%s with compiling, %s from compiled code", brief(r.Cold.Compile), brief(r.Cold.Start))},
	}
	if r.Cold.ImageBytes > 0 {
		lines = append(lines, fact{"snapshot", fmt.Sprintf("%d bytes, restored in %s", r.Cold.ImageBytes, brief(r.Cold.Restore))})
	}
	if err := facts(p.out, lines); err != nil {
		return err
	}
	fmt.Fprintln(p.out)
	var rows [][]string
	for _, c := range r.Cases {
		rows = append(rows, []string{
			c.Name, c.Op, fmt.Sprint(c.Gas), brief(c.Median), brief(c.Slow), brief(c.Fresh), c.Error, overText(c.Over),
		})
	}
	return table(p.out, []string{"CASE", "OP", "GAS", "MEDIAN", "P99", "FRESH", "ERROR", "BUDGET"}, rows)
}

func overText(over []string) string {
	if len(over) == 0 {
		return "ok"
	}
	return "OVER: " + strings.Join(over, ", ")
}

// brief writes a time with three digits.
func brief(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}
