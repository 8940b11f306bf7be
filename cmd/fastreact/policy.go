package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/client"
)

func newPolicy(p program) *cobra.Command {
	return newGroup("policy", "Ask what policy would say about a call", newPolicyCheck(p))
}

// check is one dry run.
type check struct {
	settings
	remote
	probe client.Probe
	args  string
}

func newPolicyCheck(p program) *cobra.Command {
	c := &check{}
	command := &cobra.Command{
		Use: "check --tool NAME", Short: "Judge a call without making it", Args: exactly(),
		Long: "Judges a call without making it: against the configuration, or with --url against a running service.\n" +
			"Against the configuration it starts the configured MCP servers to learn their tools.",
		Example: "  fastreact policy check --tool exec --args '{\"command\":\"rm -r x\"}' --user-key pska:user_primary",
		RunE: func(command *cobra.Command, _ []string) error {
			if c.probe.ToolName == "" {
				return usageError{errors.New("--tool is missing")}
			}
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.args), &object); err != nil || object == nil {
				return usageError{errors.New("--args must be a JSON object")}
			}
			c.probe.ToolArgs = json.RawMessage(c.args)
			if command.Flags().Changed("url") {
				return c.askService(command.Context(), p)
			}
			return c.askConfig(command.Context(), p)
		},
	}
	c.allFlags(command)
	c.flags(command)
	flags := command.Flags()
	flags.StringVar(&c.probe.ToolName, "tool", "", "registered tool name")
	flags.StringVar(&c.args, "args", "{}", "arguments, a JSON object")
	flags.StringVar(&c.probe.UserKey, "user-key", "", "user the call is made for, such as pska:user_primary")
	flags.StringVar(&c.probe.TenantKey, "tenant-key", "", "tenant; empty means the part of the user key before the colon")
	return command
}

func (c *check) askService(ctx context.Context, p program) error {
	service, err := c.client(p)
	if err != nil {
		return err
	}
	judgement, err := service.CheckPolicy(ctx, c.probe)
	if err != nil {
		return c.explain(err)
	}
	return c.show(p, judgement)
}

func (c *check) askConfig(ctx context.Context, p program) error {
	loaded, err := c.load(p)
	if err != nil {
		return err
	}
	wired, err := options(loaded.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	decision, err := host.DryRun(ctx, wired, host.Probe{
		Tool: c.probe.ToolName, Args: c.probe.ToolArgs, UserKey: c.probe.UserKey, Tenant: c.probe.TenantKey,
	})
	if err != nil {
		return fmt.Errorf("judge call: %w", err)
	}
	return c.show(p, c.judged(decision))
}

// judged puts a local decision into the words of the service.
func (c *check) judged(decision host.Decision) client.Judgement {
	level := string(decision.Level())
	judgement := client.Judgement{
		ToolName: c.probe.ToolName, UserKey: c.probe.UserKey, TenantKey: c.probe.TenantKey,
		Level: level, Reason: decision.Reason, PatternMatched: present(decision.Pattern),
		PolicyScope: present(decision.PolicyScope), PolicyAction: present(string(decision.PolicyAction)),
		PolicyMatched: decision.PolicyMatched, Chain: []client.Opinion{},
		RequiresConfirmation: decision.Action == sdk.RequireApproval,
		ShouldAllow:          decision.Action.Valid() && decision.Action != sdk.Deny,
	}
	if prefix, _, tenanted := strings.Cut(c.probe.UserKey, ":"); tenanted && judgement.TenantKey == "" {
		judgement.TenantKey = prefix
	}
	for _, link := range decision.Chain {
		judgement.Chain = append(judgement.Chain,
			client.Opinion{Source: link.Source, Action: string(link.Action), Reason: link.Reason})
	}
	return judgement
}

func (c *check) show(p program, j client.Judgement) error {
	if c.asJSON {
		if j.Raw == nil {
			j.Raw, _ = json.Marshal(j) // strings and booleans cannot fail
		}
		return printJSON(p.out, j.Raw)
	}
	verdict := "would not run"
	if j.ShouldAllow {
		verdict = "would run"
	}
	if j.RequiresConfirmation {
		verdict = "would wait for a person"
	}
	lines := []fact{
		{"tool", j.ToolName},
		{"verdict", verdict},
		{"level", j.Level},
		{"reason", j.Reason},
		{"rule", valueOf(j.PolicyScope)},
		{"pattern", valueOf(j.PatternMatched)},
	}
	for _, opinion := range j.Chain {
		lines = append(lines, fact{"opinion", fmt.Sprintf("%s: %s (%s)", opinion.Source, opinion.Action, opinion.Reason)})
	}
	return facts(p.out, lines)
}

func present(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func valueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
