package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/sdk/client"
)

// conversation is what chat knows between questions.
type conversation struct {
	remote
	request client.Request
	system  string
	noTools bool
	memory  bool
	tools   []string
}

func newChat(p program) *cobra.Command {
	c := &conversation{}
	command := &cobra.Command{
		Use:   "chat [QUESTION…]",
		Short: "Ask the service and watch it work",
		Long: "Asks one question and prints what happens. Without a question it reads one from each line of standard\n" +
			"input and keeps the conversation. It exits with 1 when a run failed.",
		Example: "  fastreact chat \"What is in my notes?\"\n  fastreact chat --user-key pska:user_primary --tool pska_pska_search \"Find the contract\"",
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := interruptible(command.Context())
			defer stop()
			c.prepare()
			if len(args) > 0 {
				return c.ask(ctx, p, strings.Join(args, " "))
			}
			return c.converse(ctx, p)
		},
	}
	c.flags(command)
	flags := command.Flags()
	flags.StringVar(&c.request.UserKey, "user-key", "", "ask as this user, such as pska:user_primary")
	flags.StringVar(&c.request.SessionID, "session", "", "session to ask in")
	flags.BoolVar(&c.memory, "memory", false, "let the service remember the session, instead of sending it along")
	flags.StringVar(&c.request.Model, "model", "", "model to ask")
	flags.StringVar(&c.system, "system", "", "instruction that stands before the question")
	flags.BoolVar(&c.noTools, "no-tools", false, "answer without tools")
	flags.StringArrayVar(&c.tools, "tool", nil, "allow this tool only; may be repeated")
	return command
}

func (c *conversation) prepare() {
	if c.system != "" {
		c.request.Messages = []client.Message{{Role: "system", Content: c.system}}
	}
	switch {
	case c.noTools:
		c.request.ToolPolicy = &client.ToolPolicy{Mode: "none"}
	case len(c.tools) > 0:
		c.request.ToolPolicy = &client.ToolPolicy{Mode: "allowlist", AllowedTools: c.tools}
	}
	c.request.StreamDeltas = !c.asJSON
	c.request.Metadata = json.RawMessage(`{"caller":"fastreact-cli"}`)
	if c.memory {
		c.request.Metadata = json.RawMessage(`{"caller":"fastreact-cli","session_memory":true}`)
	}
}

// converse asks each line of standard input.
func (c *conversation) converse(ctx context.Context, p program) error {
	lines := bufio.NewScanner(p.in)
	lines.Buffer(nil, 1<<20)
	var failure error
	for c.prompt(p); ctx.Err() == nil && lines.Scan(); c.prompt(p) {
		if question := strings.TrimSpace(lines.Text()); question != "" {
			failure = c.ask(ctx, p, question)
		}
		if failure != nil && failure != errQuiet {
			return failure
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read question: %w", err)
	}
	return failure
}

func (c *conversation) prompt(p program) {
	if !c.asJSON {
		fmt.Fprint(p.errs, "> ")
	}
}

func (c *conversation) ask(ctx context.Context, p program, question string) error {
	service, err := c.client(p)
	if err != nil {
		return err
	}
	before := len(c.request.Messages)
	c.request.Messages = append(c.request.Messages, client.Message{Role: "user", Content: question})
	show := display{out: p.out, asJSON: c.asJSON}
	for event, err := range service.Chat(ctx, c.request) {
		if err != nil {
			return c.explain(err)
		}
		c.request.SessionID = event.SessionID
		show.event(event)
	}
	switch {
	case c.memory:
		c.request.Messages = c.request.Messages[:before]
	case !show.failed:
		c.request.Messages = append(c.request.Messages, client.Message{Role: "assistant", Content: show.answer})
	}
	return show.verdict()
}
