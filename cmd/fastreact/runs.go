package main

import (
	"crypto/rand"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/sdk/client"
)

func newRuns(p program) *cobra.Command {
	r := &remote{}
	group := newGroup("runs", "List, show, follow and cancel runs",
		newRunsList(p, r), newRunsShow(p, r), newRunsTail(p, r), newRunsCancel(p, r))
	r.flags(group)
	return group
}

func newRunsList(p program, r *remote) *cobra.Command {
	query := client.RunsQuery{}
	command := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: exactly(),
		Example: "  fastreact runs list --status running",
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := r.client(p)
			if err != nil {
				return err
			}
			runs, err := c.Runs(command.Context(), query)
			if err != nil {
				return r.explain(err)
			}
			if r.asJSON {
				return printJSON(p.out, runs.Raw)
			}
			rows := [][]string{}
			for _, run := range runs.Items {
				rows = append(rows, []string{
					run.ID, run.Status, run.Kind, moment(run.CreatedAt), milliseconds(run.DurationMS), strconv.Itoa(run.EventCount),
				})
			}
			return table(p.out, []string{"RUN", "STATUS", "KIND", "CREATED", "DURATION", "EVENTS"}, rows)
		},
	}
	command.Flags().IntVar(&query.Limit, "limit", 50, "how many to list")
	command.Flags().StringVar(&query.Status, "status", "", "only runs with this status: queued, running, completed, failed or cancelled")
	command.Flags().StringVar(&query.SessionID, "session", "", "only runs of this session")
	return command
}

func newRunsShow(p program, r *remote) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show one run", Args: exactly("RUN"),
		RunE: func(command *cobra.Command, args []string) error {
			c, err := r.client(p)
			if err != nil {
				return err
			}
			run, err := c.Run(command.Context(), args[0])
			if err != nil {
				return r.explain(err)
			}
			return r.showRun(p, run)
		},
	}
}

func (r *remote) showRun(p program, run client.Run) error {
	if r.asJSON {
		return printJSON(p.out, run.Raw)
	}
	return facts(p.out, []fact{
		{"run", run.ID},
		{"session", run.SessionID},
		{"kind", run.Kind},
		{"status", run.Status},
		{"phase", run.Phase},
		{"created", moment(run.CreatedAt)},
		{"started", moment(run.StartedAt)},
		{"completed", moment(run.CompletedAt)},
		{"cancelled", moment(run.CancelledAt)},
		{"duration", milliseconds(run.DurationMS)},
		{"events", eventsOf(run)},
		{"attempts", strconv.Itoa(run.Attempts)},
		{"worker", run.WorkerID},
		{"lease until", moment(run.LeaseUntil)},
		{"retried after", moment(run.RetryAfter)},
		{"error", compact(run.Error)},
		{"last error", lastErrorOf(run)},
		{"metadata", compact(run.Metadata)},
	})
}

// eventsOf counts the events, and says where those begin that are still there.
func eventsOf(run client.Run) string {
	if run.MinSequence == 0 {
		return strconv.Itoa(run.EventCount)
	}
	return fmt.Sprintf("%d, kept from %d on", run.EventCount, run.MinSequence)
}

// lastErrorOf is what is known of those who drove a run before. How a run ended stands in its error.
func lastErrorOf(run client.Run) string {
	if compact(run.Error) != "" {
		return ""
	}
	return run.LastError
}

func newRunsTail(p program, r *remote) *cobra.Command {
	after := int64(-1)
	command := &cobra.Command{
		Use: "tail RUN", Short: "Print a run's events, then those to come", Args: exactly("RUN"),
		Long: "Prints the events of a run and follows it until it ends. It exits with 1 when the run failed.",
		RunE: func(command *cobra.Command, args []string) error {
			c, err := r.client(p)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(command.Context())
			defer stop()
			show := display{out: p.out, asJSON: r.asJSON}
			for event, err := range c.Follow(ctx, args[0], after) {
				if err != nil {
					return r.explain(err)
				}
				show.event(event)
			}
			return show.verdict()
		},
	}
	command.Flags().Int64Var(&after, "after", -1, "only events behind this sequence")
	return command
}

func newRunsCancel(p program, r *remote) *cobra.Command {
	reason := ""
	command := &cobra.Command{
		Use: "cancel RUN", Short: "Cancel a run; one that has ended stays as it is", Args: exactly("RUN"),
		RunE: func(command *cobra.Command, args []string) error {
			c, err := r.client(p)
			if err != nil {
				return err
			}
			run, err := c.CancelRun(command.Context(), args[0],
				client.Cancellation{Reason: reason, IdempotencyKey: rand.Text()})
			if err != nil {
				return r.explain(err)
			}
			return r.showRun(p, run)
		},
	}
	command.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return command
}
