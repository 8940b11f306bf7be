package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

// locking is one use of plugin lock.
type locking struct {
	settings
	path   string
	check  bool
	asJSON bool
}

func newPluginLock(p program) *cobra.Command {
	l := &locking{}
	command := &cobra.Command{
		Use: "lock [FILE...]", Short: "Pin plugins in plugins.lock",
		Long: "Writes the digests of plugins into the lock file: what the service may load under these paths from now on.\n" +
			"Without FILE it pins every entry of plugins.load and drops the others; with FILE only these change. Review\n" +
			"the files first: fastreact plugin inspect and diff.\n\n" +
			"--check writes nothing and ends with exit code 1 when the lock file differs from the files.",
		Example: "  fastreact plugin lock --config fastreact.yaml\n  fastreact plugin lock --check --config fastreact.yaml",
		RunE:    func(_ *cobra.Command, files []string) error { return l.run(p, files) },
	}
	l.fileFlag(command)
	command.Flags().StringVar(&l.path, "lock", "", "lock file (default: the one that the service reads)")
	command.Flags().BoolVar(&l.check, "check", false, "compare only; exit code 1 when something differs")
	jsonFlag(command, &l.asJSON)
	return command
}

func (l *locking) run(p program, files []string) error {
	plan, err := host.PlanLock(host.LockRequest{
		Load: host.LoadOptions{Path: l.file, Getenv: p.getenv}, Files: files, Path: l.path, Check: l.check,
	})
	if err != nil {
		return err
	}
	if len(plan.Changes) == 0 && len(files) == 0 {
		return advice{fmt.Errorf("there is nothing to lock"), "Name plugin files, or a configuration with plugins.load by --config."}
	}
	if !l.check && plan.Drifts() {
		if err := plan.Write(); err != nil {
			return err
		}
	}
	if err := l.show(p, plan); err != nil {
		return err
	}
	if l.check && plan.Drifts() {
		return errQuiet
	}
	return nil
}

func (l *locking) show(p program, plan host.LockPlan) error {
	if l.asJSON {
		return writeJSON(p.out, struct {
			host.LockPlan
			Drift bool `json:"drift"`
		}{plan, plan.Drifts()})
	}
	rows := [][]string{}
	for _, change := range plan.Changes {
		rows = append(rows, []string{change.Path, change.Change, orWord(change.Digest, change.Before)})
	}
	if err := table(p.out, []string{"PLUGIN", "CHANGE", "DIGEST"}, rows); err != nil {
		return err
	}
	for _, change := range plan.Changes {
		if change.Why != "" {
			fmt.Fprintf(p.errs, "fastreact: %s\n", onScreen(change.Why))
		}
	}
	if l.check && plan.Drifts() {
		fmt.Fprintf(p.errs, "fastreact: %s differs from the files; review them, then run `fastreact plugin lock`\n", onScreen(plan.Path))
	}
	return nil
}
