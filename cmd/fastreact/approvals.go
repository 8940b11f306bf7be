package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/sdk/client"
)

func newApprovals(p program) *cobra.Command {
	r := &remote{}
	group := newGroup("approvals", "List, show and answer calls that wait for a person",
		newApprovalsList(p, r),
		newApprovalsShow(p, r),
		newApprovalsWatch(p, r),
		newAnswer(p, r, answer{"approve", "Let a call run, with exactly the arguments shown", (*client.Client).Approve}),
		newAnswer(p, r, answer{"deny", "Refuse a call", (*client.Client).Deny}),
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
				rows = append(rows, []string{a.ID, a.Status, a.UserKey, a.ToolName, cut(compact(a.ToolArgs), 60), moment(a.ExpiresAt)})
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
	send       func(c *client.Client, ctx context.Context, id, reason string) (client.Approval, error)
}

func newAnswer(p program, r *remote, a answer) *cobra.Command {
	reason := ""
	command := &cobra.Command{
		Use: a.use + " APPROVAL", Short: a.short, Args: exactly("APPROVAL"),
		RunE: func(command *cobra.Command, args []string) error {
			c, err := r.client(p)
			if err != nil {
				return err
			}
			approval, err := a.send(c, command.Context(), args[0], reason)
			if err != nil {
				return r.explain(err)
			}
			return r.showApproval(p, approval)
		},
	}
	command.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return command
}
