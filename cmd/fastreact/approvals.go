package main

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/sdk/client"
)

func newApprovals(p program) *cobra.Command {
	r := &remote{}
	group := newGroup("approvals", "List, show and answer calls that wait for a person",
		newApprovalsList(p, r),
		newApprovalsShow(p, r),
		newApprovalsWatch(p, r),
		newAnswer(p, r, answer{"approve", "Let a call run, with exactly the arguments shown", true}),
		newAnswer(p, r, answer{"deny", "Refuse a call", false}),
	)
	r.flags(group)
	return group
}

func newApprovalsList(p program, r *remote) *cobra.Command {
	query, all := client.ApprovalsQuery{}, false
	command := &cobra.Command{
		Use: "list", Short: "List calls that wait for a person", Args: exactly(),
		RunE: func(command *cobra.Command, _ []string) error {
			if all {
				query.Status = ""
			}
			c, err := r.client(p)
			if err != nil {
				return err
			}
			approvals, err := c.Approvals(command.Context(), query)
			if err != nil {
				return r.explain(err)
			}
			if r.asJSON {
				return printJSON(p.out, approvals.Raw)
			}
			rows := [][]string{}
			for _, a := range approvals.Items {
				rows = append(rows, []string{a.ID, statusOf(a), a.UserKey, a.ToolName, cut(compact(a.ToolArgs), 60), moment(a.ExpiresAt)})
			}
			return table(p.out, []string{"APPROVAL", "STATUS", "USER", "TOOL", "ARGUMENTS", "EXPIRES"}, rows)
		},
	}
	command.Flags().StringVar(&query.Status, "status", "pending", "only this status: pending, approved, denied, expired or cancelled")
	command.Flags().BoolVar(&all, "all", false, "every status")
	command.Flags().StringVar(&query.RunID, "run", "", "only approvals of this run")
	command.Flags().StringVar(&query.ToolName, "tool", "", "only approvals of this tool")
	command.Flags().IntVar(&query.Limit, "limit", 50, "how many to list")
	command.Flags().IntVar(&query.Offset, "offset", 0, "how many to skip")
	return command
}

func newApprovalsShow(p program, r *remote) *cobra.Command {
	return &cobra.Command{
		Use: "show APPROVAL", Short: "Show one call with its whole arguments", Args: exactly("APPROVAL"),
		RunE: func(command *cobra.Command, args []string) error {
			c, err := r.client(p)
			if err != nil {
				return err
			}
			approval, err := c.Approval(command.Context(), args[0])
			if err != nil {
				return r.explain(err)
			}
			return r.showApproval(p, approval)
		},
	}
}

func (r *remote) showApproval(p program, a client.Approval) error {
	if r.asJSON {
		return printJSON(p.out, a.Raw)
	}
	return facts(p.out, []fact{
		{"approval", a.ID},
		{"status", a.Status},
		{"question", questionOf(a)},
		{"choices", choicesOf(a)},
		{"choice", inWords(a.Choice)},
		{"run", a.RunID},
		{"user", a.UserKey},
		{"tenant", a.TenantKey},
		{"tool", a.ToolName},
		{"arguments", compact(a.ToolArgs)},
		{"digest", a.ArgsDigest},
		{"reason", a.Reason},
		{"level", a.DecisionLevel},
		{"policy", a.PolicyScope},
		{"created", moment(a.CreatedAt)},
		{"expires", moment(a.ExpiresAt)},
		{"resolved", moment(a.ResolvedAt)},
		{"resolved by", a.ResolvedBy},
		{"resolution", a.ResolutionReason},
	})
}

// answer is one way to settle an approval.
type answer struct {
	use, short string
	approve    bool
}

func newAnswer(p program, r *remote, a answer) *cobra.Command {
	given := client.Resolution{Approve: a.approve}
	command := &cobra.Command{
		Use: a.use + " APPROVAL", Short: a.short, Args: exactly("APPROVAL"),
		RunE: func(command *cobra.Command, args []string) error {
			if err := a.takes(given.Choice); err != nil {
				return usageError{err}
			}
			c, err := r.client(p)
			if err != nil {
				return err
			}
			given.IdempotencyKey = rand.Text()
			approval, err := c.Resolve(command.Context(), args[0], given)
			if err != nil {
				return r.explain(err)
			}
			return r.showApproval(p, approval)
		},
	}
	command.Flags().StringVar(&given.Reason, "reason", "", "why, for the record")
	command.Flags().StringVar(&given.Choice, "choice", "", a.choiceHelp())
	return command
}

func (a answer) choiceHelp() string {
	if a.approve {
		return "what to do about a call whose outcome is unknown: retry, treat_as_done or abort"
	}
	return "of a call whose outcome is unknown: abort, also when left out"
}

// takes reports whether a choice can be given with this answer; whether there is one to make is the service's to say.
func (a answer) takes(choice string) error {
	known := []string{client.Abort}
	if a.approve {
		known = []string{client.Retry, client.TreatAsDone, client.Abort}
	}
	if choice == "" || slices.Contains(known, choice) {
		return nil
	}
	return fmt.Errorf("--choice must be %s", strings.Join(known, ", "))
}
