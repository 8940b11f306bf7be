package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/sdk/client"
)

// watchPage is how many approvals are asked for at once.
const watchPage = 200

// lastCall is the time before its expiry at which a waiting call is announced once more.
const lastCall = time.Minute

func newApprovalsWatch(p program, r *remote) *cobra.Command {
	interval := time.Second
	command := &cobra.Command{
		Use: "watch", Short: "Announce calls that wait for a person, as they come", Args: exactly(),
		Long: "Prints every call that waits now and every one that comes, with its whole arguments, and what became of\n" +
			"it, until SIGINT. A service that goes away is waited for. With --json each line is one object: event\n" +
			"(pending, expiring or settled) and approval.",
		RunE: func(command *cobra.Command, _ []string) error {
			if interval < 50*time.Millisecond || interval > time.Hour {
				return usageError{errors.New("--interval must lie between 50ms and 1h")}
			}
			c, err := r.client(p)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(command.Context())
			defer stop()
			w := &watching{remote: r, client: c, out: p.out, errs: p.errs, seen: map[string]sighting{}}
			return w.run(ctx, interval)
		},
	}
	command.Flags().DurationVar(&interval, "interval", time.Second, "how often to look")
	return command
}

// watching is what a watch knows so far.
type watching struct {
	remote    *remote
	client    *client.Client
	out, errs io.Writer
	seen      map[string]sighting // approvals that were pending at the last look, by id
	away      bool                // the service did not answer the last time
}

// sighting is one approval that was announced.
type sighting struct {
	approval client.Approval
	warned   bool
}

func (w *watching) run(ctx context.Context, interval time.Duration) error {
	look := time.NewTicker(interval)
	defer look.Stop()
	for {
		err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !passing(err):
			return w.remote.explain(err)
		case err != nil && !w.away:
			w.away = true
			fmt.Fprintf(w.errs, "fastreact: %s; still watching\n", onScreenLines(err.Error()))
		case err == nil && w.away:
			w.away = false
			fmt.Fprintln(w.errs, "fastreact: the service is back")
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// passing reports whether a failure may be over at the next look. Until the service has answered once, only one that
// names no mistake of the caller is.
func passing(err error) bool {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return true
	}
	return refused.Status >= 500 || refused.Status == http.StatusTooManyRequests
}

// look compares what waits now with what waited before.
func (w *watching) look(ctx context.Context) error {
	pending, err := w.pending(ctx)
	if err != nil {
		return err
	}
	now := map[string]bool{}
	for _, a := range pending {
		now[a.ID] = true
		known, announced := w.seen[a.ID]
		left := leftOf(a)
		switch {
		case !announced:
			w.say("pending", a)
		case !known.warned && left <= lastCall:
			w.say("expiring", a)
		}
		w.seen[a.ID] = sighting{a, known.warned || left <= lastCall}
	}
	for id := range w.seen {
		if now[id] {
			continue
		}
		settled, err := w.client.Approval(ctx, id)
		if err != nil && !client.IsStatus(err, http.StatusNotFound) {
			return err
		}
		if err == nil && settled.Status == "pending" {
			continue // it moved between two pages
		}
		delete(w.seen, id)
		if err == nil {
			w.say("settled", settled)
		}
	}
	return nil
}

// pending reads every page of what waits.
func (w *watching) pending(ctx context.Context) ([]client.Approval, error) {
	var all []client.Approval
	for {
		page, err := w.client.Approvals(ctx, client.ApprovalsQuery{
			Status: "pending", Limit: watchPage, Offset: len(all), Order: "asc",
		})
		if err != nil {
			return nil, err
		}
		if err := withRaw(&page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if !page.HasMore || len(page.Items) == 0 {
			return all, nil
		}
	}
}

func leftOf(a client.Approval) time.Duration {
	if a.ExpiresAt == nil {
		return 0
	}
	return time.Until(*a.ExpiresAt)
}

// say announces one approval.
func (w *watching) say(event string, a client.Approval) {
	if w.remote.asJSON {
		w.sayJSON(event, a)
		return
	}
	id, tool := onScreen(a.ID), onScreen(a.ToolName)
	left := max(leftOf(a), 0).Round(time.Second)
	switch event {
	case "pending":
		fmt.Fprintf(w.out, "? %s %s %s: %s\n  arguments %s\n  digest    %s\n  user      %s, run %s\n"+
			"  expires in %s (%s)\n%s\n\n",
			id, asks(a), tool, onScreen(a.Reason), onScreen(compact(a.ToolArgs)), onScreen(a.ArgsDigest),
			onScreen(a.UserKey), onScreen(a.RunID), left, moment(a.ExpiresAt), howToAnswer("  ", "", id, a.Choices))
	case "expiring":
		fmt.Fprintf(w.out, "! %s: %s expires in %s\n\n", id, tool, left)
	default:
		fmt.Fprintf(w.out, "= %s: %s is %s%s\n\n", id, tool, onScreen(a.Status), because(a))
	}
}

// asks says what an approval has to do with its tool.
func asks(a client.Approval) string {
	if a.Kind == client.UnknownOutcome {
		return "asks what became of a call of"
	}
	return "wants to call"
}

func because(a client.Approval) string {
	words := ""
	if a.Choice != "" {
		words += " (" + onScreen(inWords(a.Choice)) + ")"
	}
	if a.ResolvedBy != "" {
		words += " by " + onScreen(a.ResolvedBy)
	}
	if a.ResolutionReason != "" {
		words += ": " + onScreen(a.ResolutionReason)
	}
	return words
}
