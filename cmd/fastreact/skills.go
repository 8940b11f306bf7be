package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/sdk/client"
)

func newSkills(p program) *cobra.Command {
	r := &remote{}
	command := &cobra.Command{
		Use: "skills", Short: "List what the operator wrote down for the model", Args: exactly(),
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := r.client(p)
			if err != nil {
				return err
			}
			skills, err := c.Skills(command.Context())
			if err != nil {
				return r.explain(err)
			}
			if r.asJSON {
				return printJSON(p.out, skills.Raw)
			}
			rows := [][]string{}
			for _, skill := range skills.Items {
				rows = append(rows, []string{skill.Name, skill.Source, usedWhen(skill), cut(skill.Description, 80)})
			}
			return table(p.out, []string{"SKILL", "FROM", "USED", "DESCRIPTION"}, rows)
		},
	}
	r.flags(command)
	return command
}

// usedWhen says when a run that names no skills has this one.
func usedWhen(skill client.Skill) string {
	switch {
	case skill.Always:
		return "always"
	case len(skill.Triggers) > 0:
		return "on " + cut(strings.Join(skill.Triggers, ", "), 40)
	}
	return "when named"
}
