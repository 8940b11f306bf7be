package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

func newDoctor(p program) *cobra.Command {
	s, asJSON := &settings{}, false
	command := &cobra.Command{
		Use: "doctor", Short: "Examine model, store, plugins, MCP servers and evidence, and say what to do", Args: exactly(),
		Long: "Examines every part that the configuration names, without serving: what works, what does not, what to\n" +
			"do. It starts the MCP servers and asks the model and the sources of evidence. It exits with 1 when a part is broken.",
		RunE: func(command *cobra.Command, _ []string) error {
			loaded, err := s.load(p)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(command.Context())
			defer stop()
			wired, err := options(loaded.Config, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			return report(p, host.Doctor(ctx, wired), asJSON)
		},
	}
	s.allFlags(command)
	jsonFlag(command, &asJSON)
	return command
}

// report prints the findings, and fails when a part is broken.
func report(p program, findings []host.Finding, asJSON bool) error {
	err := showFindings(p, findings, asJSON)
	for _, finding := range findings {
		if finding.Health == host.Broken && err == nil {
			err = errQuiet
		}
	}
	return err
}

func showFindings(p program, findings []host.Finding, asJSON bool) error {
	if asJSON {
		return writeJSON(p.out, map[string]any{"findings": findings})
	}
	rows := [][]string{}
	for _, finding := range findings {
		rows = append(rows, []string{finding.Part, string(finding.Health), finding.Says})
		if finding.Do != "" {
			rows = append(rows, []string{"", "", "→ " + finding.Do})
		}
	}
	return table(p.out, []string{"PART", "STATE", "FINDING"}, rows)
}
