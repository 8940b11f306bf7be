package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// program is what a command has of the world.
type program struct {
	in     io.Reader
	out    io.Writer // answers
	errs   io.Writer // everything else
	getenv func(name string) string
}

// usageError is a command that was asked wrongly.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// advice is an error and what to do about it.
type advice struct {
	err  error
	hint string
}

func (a advice) Error() string { return a.err.Error() }
func (a advice) Unwrap() error { return a.err }

// errQuiet ends a command with exitFailed when it has said everything already.
var errQuiet = errors.New("failed")

// run executes the command line and returns the exit code.
func run(ctx context.Context, root *cobra.Command) int {
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var usage usageError
	wrong := errors.As(err, &usage)
	if !errors.Is(err, errQuiet) {
		complain(root, command, err)
	}
	if wrong {
		return exitUsage
	}
	return exitFailed
}

// complain says what failed and what to do: to people, and to the script that asked for JSON.
func complain(root, command *cobra.Command, err error) {
	hint := hintFor(err, command)
	fmt.Fprintf(root.ErrOrStderr(), "fastreact: %s\n", onScreenLines(err.Error()))
	if hint != "" {
		fmt.Fprintln(root.ErrOrStderr(), onScreenLines(hint))
	}
	if command.Annotations[jsonAnswer] != "" && command.Flags().Changed("json") {
		_ = writeJSON(root.OutOrStdout(), failure{Error: err.Error(), Hint: hint})
	}
}

// failure is the answer of a command that failed, for scripts.
type failure struct {
	OK    bool   `json:"ok"` // false
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

// jsonAnswer marks commands whose answer is one JSON object with --json.
const jsonAnswer = "json answer"

// jsonFlag lets a command answer with one JSON object, also when it fails.
func jsonFlag(command *cobra.Command, asked *bool) {
	command.Flags().BoolVar(asked, "json", false, "print JSON, for scripts")
	command.Annotations = map[string]string{jsonAnswer: "one object"}
}

func hintFor(err error, command *cobra.Command) string {
	var told advice
	if errors.As(err, &told) {
		return told.hint
	}
	var usage usageError
	if errors.As(err, &usage) {
		return "See `" + command.CommandPath() + " --help`."
	}
	return ""
}

func newRoot(p program) *cobra.Command {
	root := &cobra.Command{
		Use:   "fastreact",
		Short: "Run a tool-using agent service, and talk to one",
		Long: "FastReAct answers questions with a language model and tools. Every tool call passes one gate: policy,\n" +
			"scope, plugins, and, where policy says so, a person.\n\n" +
			"Start a service with `fastreact serve`; ask it with `fastreact chat`.",
		Example:                    "  fastreact serve --config fastreact.yaml\n  fastreact chat \"What is in my notes?\"",
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       subcommandsOnly,
		RunE:                       showHelp,
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.errs)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(
		newServe(p), newConfig(p), newDoctor(p), newPolicy(p), newRuns(p), newApprovals(p), newChat(p), newUI(p),
		newPlugin(p), newSkills(p), newBackup(p), newMigrate(p), newPSKAWorker(p), newVersion(p),
	)
	return root
}

// newGroup returns a command that only holds others.
func newGroup(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: use, Short: short, Args: subcommandsOnly, RunE: showHelp, SuggestionsMinimumDistance: 2,
	}
	group.AddCommand(commands...)
	return group
}

func showHelp(command *cobra.Command, _ []string) error { return command.Help() }

// subcommandsOnly refuses a word that names no subcommand.
func subcommandsOnly(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %s", args[0], command.CommandPath())
	if near := command.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usageError{errors.New(text)}
}

// exactly takes the named arguments, no fewer and no more.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usageError{fmt.Errorf("%s is missing", names[len(args)])}
		}
		if len(args) > len(names) {
			return usageError{fmt.Errorf("unexpected argument %q", args[len(names)])}
		}
		return nil
	}
}
