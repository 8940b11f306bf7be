package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

// pluginTest is what a person asked to try.
type pluginTest struct {
	update  bool
	leak    bool
	hostile bool
	steps   int
	seed    uint64
	asJSON  bool
}

// pluginVerdict is all that came of it.
type pluginVerdict struct {
	host.PluginTestReport
	Leak    *host.PluginLeakReport    `json:"leak,omitempty"`
	Hostile *host.PluginHostileReport `json:"hostile,omitempty"`
}

func newPluginTest(p program) *cobra.Command {
	var asked pluginTest
	command := &cobra.Command{
		Use: "test DIR|FILE", Short: "Run the cases of a plugin in the plugin host", Args: exactly("DIR or FILE"),
		Long: "Runs every case in DIR/cases/*.txtar, and the vectors of the manifest, against DIR/plugin.wasm as a server\n" +
			"would run it: the same sandbox, limits and grants, with a scratch workspace and recorded answers instead of a\n" +
			"network. docs/plugin-authors.md describes the format. Ends with 1 when a case fails, or when there is none.\n\n" +
			"--leak lets two tenants take turns with the plugin and compares every answer with that of a fresh instance.\n" +
			"--hostile runs modules that break every limit under the limits of this plugin, and asks the plugin what makes\n" +
			"no sense: everything must end in time, and the next good call must be answered.",
		Example: "  fastreact plugin build my-policy\n  fastreact plugin test my-policy --leak --hostile",
		RunE: func(command *cobra.Command, args []string) error {
			return asked.run(command.Context(), p, args[0])
		},
	}
	flags := command.Flags()
	flags.BoolVar(&asked.update, "update", false, "let the cases that fail want what came")
	flags.BoolVar(&asked.leak, "leak", false, "look for leaks between tenants")
	flags.IntVar(&asked.steps, "steps", 1000, "with --leak: how many calls to make")
	flags.Uint64Var(&asked.seed, "seed", 0, "with --leak: make the calls of an earlier trial again (default: a random one)")
	flags.BoolVar(&asked.hostile, "hostile", false, "attack the host under the limits of this plugin, and the plugin itself")
	jsonFlag(command, &asked.asJSON)
	return command
}

func (t pluginTest) run(ctx context.Context, p program, path string) error {
	if t.steps < 1 {
		return usageError{errors.New("--steps must be at least 1")}
	}
	subject, err := host.OpenPlugin(path)
	if err != nil {
		return err
	}
	warnOfOldModule(p, subject.Path)
	var verdict pluginVerdict
	if verdict.PluginTestReport, err = host.TestPlugin(ctx, subject); err != nil {
		return err
	}
	if t.update {
		return t.rewrite(p, subject, verdict.PluginTestReport)
	}
	if err := t.further(ctx, subject, &verdict); err != nil {
		return err
	}
	if t.asJSON {
		err = writeJSON(p.out, verdict)
	} else {
		verdict.show(p)
	}
	if err == nil && !verdict.OK {
		return errQuiet
	}
	return err
}

// warnOfOldModule says so when a source beside a module was changed after the module was built.
func warnOfOldModule(p program, module string) {
	built, err := os.Stat(module)
	sources, _ := os.ReadDir(filepath.Dir(module))
	for _, source := range sources {
		info, statErr := source.Info()
		switch filepath.Ext(source.Name()) {
		case ".go", ".c", ".h", ".json":
			if err == nil && statErr == nil && info.ModTime().After(built.ModTime()) {
				fmt.Fprintf(p.errs, "fastreact: %s is newer than %s; build it again to try what it says\n",
					onScreen(source.Name()), onScreen(module))
				return
			}
		}
	}
}

// further makes the trials that were asked for beside the cases.
func (t pluginTest) further(ctx context.Context, subject *host.PluginSubject, verdict *pluginVerdict) error {
	if t.leak {
		seed := t.seed
		for seed == 0 {
			seed = rand.Uint64()
		}
		leak, err := host.LeakPlugin(ctx, subject, host.PluginLeakOptions{Steps: t.steps, Seed: seed})
		if err != nil {
			return err
		}
		verdict.Leak, verdict.OK = &leak, verdict.OK && leak.OK
	}
	if t.hostile {
		attack, err := host.AttackPlugin(ctx, subject)
		if err != nil {
			return err
		}
		verdict.Hostile, verdict.OK = &attack, verdict.OK && attack.OK
	}
	return nil
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

func (v pluginVerdict) show(p program) {
	showOutcomes(p, v.PluginTestReport)
	if v.Leak != nil {
		showLeak(p, v.Leak)
	}
	if v.Hostile != nil {
		showAttack(p, v.Hostile)
	}
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
	showOutput(p, o.Output)
}

// showOutput shows an author what the plugin wrote.
func showOutput(p program, output string) {
	if output == "" {
		return
	}
	fmt.Fprintf(p.out, "      the plugin wrote:\n")
	for line := range strings.Lines(output) {
		fmt.Fprintf(p.out, "      | %s\n", onScreen(strings.TrimSuffix(line, "\n")))
	}
}

func showLeak(p program, l *host.PluginLeakReport) {
	for _, f := range l.Findings {
		fmt.Fprintf(p.out, "FAIL  leak, step %d, tenant %s, case %s: %s\n", f.Step, f.Tenant, onScreen(f.Case), onScreen(f.Why))
		for _, side := range [][2]string{{"want", f.Want}, {"got", f.Got}} {
			if side[1] != "" {
				fmt.Fprintf(p.out, "      %-4s %s\n", side[0], onScreen(side[1]))
			}
		}
	}
	word := "ok  "
	if !l.OK {
		word = "FAIL"
	}
	fmt.Fprintf(p.out, "%s  leak: %s of two tenants in mode %s, %d compared with a fresh instance, %d disturbed; --seed %d makes them again\n",
		word, counted(l.Steps, "call"), l.Mode, l.Compared, l.Disturbed, l.Seed)
}

func showAttack(p program, a *host.PluginHostileReport) {
	failed := 0
	for _, t := range a.Trials {
		word := "ok  "
		if !t.OK {
			word = "FAIL"
			failed++
		}
		fmt.Fprintf(p.out, "%s  hostile %-6s %-28s %-24s %8s  %s\n", word, t.Of, onScreen(t.Name), onScreen(t.Ended),
			t.Took.Round(time.Millisecond/10), onScreen(t.About))
		if !t.OK {
			fmt.Fprintf(p.out, "      %s\n", onScreen(t.Why))
			showOutput(p, t.Output)
		}
	}
	fmt.Fprintf(p.out, "hostile: %s with a deadline of %s, %d failed\n", counted(len(a.Trials), "trial"), a.Wall, failed)
}
