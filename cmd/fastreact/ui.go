package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newUI(p program) *cobra.Command {
	r, user := &remote{}, ""
	command := &cobra.Command{
		Use: "ui", Short: "Print the address of the page, with a one-time login", Args: exactly(),
		Long: "Prints the address at which a browser finds the page. Where the service asks for a credential, the address\n" +
			"holds a code that logs one browser in, once, within five minutes; the service token never reaches the browser.",
		Example: "  fastreact ui\n  fastreact ui --url https://fastreact.example --user-key pska:user_primary",
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := r.client(p)
			if err != nil {
				return err
			}
			code, err := c.PageCode(command.Context(), user)
			if err != nil {
				return r.explain(err)
			}
			address := strings.TrimRight(r.url, "/") + code.Path
			if r.asJSON {
				return writeJSON(p.out, pageAddress{address, moment(code.ExpiresAt)})
			}
			if _, err := fmt.Fprintln(p.out, onScreen(address)); err != nil {
				return fmt.Errorf("print address: %w", err)
			}
			if code.ExpiresAt != nil {
				fmt.Fprintf(p.errs, "It logs one browser in, once, until %s.\n", moment(code.ExpiresAt))
			}
			return nil
		},
	}
	r.flags(command)
	command.Flags().StringVar(&user, "user-key", "", "log in as this user, such as pska:user_primary")
	return command
}

// pageAddress is the answer of ui, for scripts.
type pageAddress struct {
	URL       string `json:"url"`
	ExpiresAt string `json:"expires_at,omitempty"`
}
