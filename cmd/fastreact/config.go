package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

// settings are the flags that change the configuration.
type settings struct {
	file     string
	addr     string
	store    string
	insecure bool
	allowAll bool
}

// fileFlag adds the flag that names the configuration file.
func (s *settings) fileFlag(command *cobra.Command) {
	command.Flags().StringVar(&s.file, "config", "", "configuration file, YAML or JSON (default: $FASTREACT_CONFIG, else none)")
}

// allFlags adds every flag that changes the configuration.
func (s *settings) allFlags(command *cobra.Command) {
	s.fileFlag(command)
	flags := command.Flags()
	flags.StringVar(&s.addr, "addr", "", "address to listen on, instead of server.addr")
	s.storeFlag(command)
	flags.BoolVar(&s.insecure, "insecure", false, "allow an address that other machines reach without a token")
	flags.BoolVar(&s.allowAll, "allow-all", false, "drop policy rules and the forbidden list; policy plugins still apply")
}

// storeFlag adds the flag that names the store.
func (s *settings) storeFlag(command *cobra.Command) {
	command.Flags().StringVar(&s.store, "store", "",
		"database file, instead of store.path, or the DSN of a PostgreSQL database (others see it: prefer $FASTREACT_POSTGRES_DSN)")
}

// load reads the configuration with the flags that were given.
func (s *settings) load(p program) (*host.Loaded, error) {
	overrides := map[string]string{}
	if s.addr != "" {
		overrides["server.addr"] = s.addr
	}
	loaded, err := host.Load(host.LoadOptions{
		Path: s.file, Getenv: p.getenv, Overrides: overrides, Store: s.store, Insecure: s.insecure, AllowAll: s.allowAll,
	})
	var refused *host.ConfigError
	if errors.As(err, &refused) {
		return nil, advice{
			fmt.Errorf("the configuration has %s:\n%w", counted(len(refused.Problems), "problem"), err),
			"`fastreact config schema` describes every key.",
		}
	}
	if err != nil {
		return nil, advice{err, "Name a readable file with --config or FASTREACT_CONFIG."}
	}
	return loaded, nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func newConfig(p program) *cobra.Command {
	return newGroup("config", "Check, print and describe the configuration",
		newConfigCheck(p), newConfigPrint(p), newConfigSchema(p))
}

func newConfigCheck(p program) *cobra.Command {
	s := &settings{}
	command := &cobra.Command{
		Use: "check", Short: "Report every problem of the configuration at once", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			loaded, err := s.load(p)
			if err != nil {
				return err
			}
			source := loaded.File
			if source == "" {
				source = "the defaults"
			}
			fmt.Fprintf(p.out, "The configuration is valid (%s).\n", source)
			return nil
		},
	}
	s.allFlags(command)
	return command
}

func newConfigPrint(p program) *cobra.Command {
	s, asJSON := &settings{}, false
	command := &cobra.Command{
		Use: "print", Short: "Print the effective configuration and where each value comes from", Args: exactly(),
		Long: "Prints the effective configuration. A comment behind each value names its origin: flag, environment,\n" +
			"file or default. Secrets are redacted.",
		RunE: func(*cobra.Command, []string) error {
			loaded, err := s.load(p)
			if err != nil {
				return err
			}
			if asJSON {
				return loaded.PrintJSON(p.out)
			}
			return loaded.Print(p.out)
		},
	}
	s.allFlags(command)
	jsonFlag(command, &asJSON)
	return command
}

func newConfigSchema(p program) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the configuration file", Args: exactly(),
		RunE: func(*cobra.Command, []string) error { return host.WriteSchema(p.out) },
	}
}
