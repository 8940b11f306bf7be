package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/sdk/client"
)

// remote is how a command reaches a running service.
type remote struct {
	url      string
	tokenEnv string
	asJSON   bool
}

// flags adds the flags of a client to a command and those below it.
func (r *remote) flags(command *cobra.Command) {
	flags := command.PersistentFlags()
	flags.StringVar(&r.url, "url", client.DefaultURL, "base URL of the service")
	flags.StringVar(&r.tokenEnv, "token-env", "FASTREACT_SERVICE_TOKEN", "environment variable that holds the service token")
	flags.BoolVar(&r.asJSON, "json", false, "print the service's JSON, for scripts")
}

func (r *remote) client(p program) (*client.Client, error) {
	c, err := client.New(client.Config{URL: r.url, Token: p.getenv(r.tokenEnv)})
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}

// explain adds what to do to the failure of a call.
func (r *remote) explain(err error) error {
	var refused *client.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		return advice{err, "Put the service token into the environment variable " + r.tokenEnv + ", or name another with --token-env."}
	case errors.As(err, &refused) && refused.Code == "events_compacted" && refused.First != nil:
		return advice{err, fmt.Sprintf("Read the rest with --after %d.", *refused.First-1)}
	case errors.As(err, &refused) && refused.Code == "choice_required":
		return advice{err, "Say what to do: --choice retry, treat_as_done or abort. `fastreact approvals show` explains them."}
	case errors.As(err, &refused) && refused.RetryAfter > 0:
		return advice{err, fmt.Sprintf("Try again in %s.", refused.RetryAfter)}
	case unreachable(err):
		return advice{err, "Is the service running at " + r.url + "? Start it with `fastreact serve`, or name another with --url."}
	}
	return err
}

func unreachable(err error) bool {
	var failed *net.OpError
	return errors.As(err, &failed) && failed.Op == "dial"
}

// printJSON prints a service's answer as it came, but indented.
func printJSON(w io.Writer, raw json.RawMessage) error {
	var text bytes.Buffer
	if err := json.Indent(&text, raw, "", "  "); err != nil {
		return fmt.Errorf("print answer: %w", err)
	}
	_, err := fmt.Fprintln(w, asciiJSON(text.Bytes()))
	return err
}

// writeJSON prints a value of this program as indented JSON.
func writeJSON(w io.Writer, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("print answer: %w", err)
	}
	return printJSON(w, raw)
}

// table prints rows under a head, every cell safe for a terminal.
func table(w io.Writer, head []string, rows [][]string) error {
	aligned := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(aligned, "\t")
			}
			fmt.Fprint(aligned, onScreen(cell))
		}
		fmt.Fprintln(aligned)
	}
	return aligned.Flush()
}

// fact is one line of a record.
type fact struct{ name, value string }

// facts prints the lines that have a value.
func facts(w io.Writer, lines []fact) error {
	aligned := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, line := range lines {
		if line.value != "" {
			fmt.Fprintf(aligned, "%s\t%s\n", line.name, onScreen(line.value))
		}
	}
	return aligned.Flush()
}

func moment(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func milliseconds(ms *float64) string {
	if ms == nil {
		return ""
	}
	return time.Duration(*ms * float64(time.Millisecond)).Round(time.Millisecond).String()
}

// compact writes JSON on one line, and nothing for null.
func compact(raw json.RawMessage) string {
	var text bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&text, raw) != nil {
		return ""
	}
	return text.String()
}

// interruptible ends with ctx, and when the person at the terminal says so.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
}
