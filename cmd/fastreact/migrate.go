package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

func newMigrate(p program) *cobra.Command {
	s, check, asJSON := &settings{}, false, false
	command := &cobra.Command{
		Use: "migrate", Short: "Bring the store's schema up to date", Args: exactly(),
		Long: "Brings the schema of the store up to date, or makes it in an empty one. A service does the same when it\n" +
			"starts, unless store.auto_migrate is false. Several at once are safe: one does it, the others wait. There is\n" +
			"no way back to an older schema but a backup.\n\n" +
			"With --check nothing is changed; the command fails when the schema is not the one of this program.",
		RunE: func(command *cobra.Command, _ []string) error {
			loaded, err := s.load(p)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(command.Context())
			defer stop()
			if check {
				return checkSchema(p, asJSON, func() (host.Schema, error) { return host.StoreSchema(ctx, loaded.Config) })
			}
			before, err := host.MigrateStore(ctx, loaded.Config)
			if err != nil {
				return advice{fmt.Errorf("the schema is as it was: %w", err), "`fastreact doctor` examines the store."}
			}
			if asJSON {
				return writeJSON(p.out, before)
			}
			if before.Found == before.Known {
				fmt.Fprintf(p.out, "The schema is version %d, as it should be.\n", before.Known)
				return nil
			}
			fmt.Fprintf(p.out, "The schema was version %d and is version %d now.\n", before.Found, before.Known)
			return nil
		},
	}
	s.fileFlag(command)
	s.storeFlag(command)
	command.Flags().BoolVar(&check, "check", false, "only say which version the schema has, and fail when it is another than this program's")
	jsonFlag(command, &asJSON)
	return command
}

// checkSchema prints both versions, and fails when they differ.
func checkSchema(p program, asJSON bool, look func() (host.Schema, error)) error {
	schema, err := look()
	if err != nil {
		return advice{err, "`fastreact doctor` examines the store."}
	}
	if asJSON {
		err = writeJSON(p.out, schema)
	} else {
		_, err = fmt.Fprintf(p.out, "The schema is version %d, this program needs %d%s.\n", schema.Found, schema.Known, remedy(schema))
	}
	if err == nil && schema.Found != schema.Known {
		err = errQuiet
	}
	return err
}

// remedy says what to do about a schema of another version.
func remedy(schema host.Schema) string {
	switch {
	case schema.Found > schema.Known:
		return ": use a newer program"
	case schema.Found < schema.Known:
		return ": run `fastreact migrate`"
	}
	return ""
}
