package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

func newBackup(p program) *cobra.Command {
	s := &settings{}
	asJSON := false
	command := &cobra.Command{
		Use: "backup FILE", Short: "Copy the store into a new file, also while the service runs",
		Long: "Copy the database file into a new file, as it is at one moment. The service may run meanwhile. The copy is checked\n" +
			"before it gets its name, and no file is overwritten.\n\n" +
			"To go back to a copy: stop the service, move the database file away together with the files beside it\n" +
			"whose names end in -wal and -shm, put the copy in its place, and start the service. Runs that were under\n" +
			"way when the copy was made go on.\n\n" +
			"A store in PostgreSQL is backed up with pg_dump or pg_basebackup: they copy it as it is at one moment.",
		Args: exactly("FILE"),
		RunE: func(command *cobra.Command, args []string) error {
			loaded, err := s.load(p)
			if err != nil {
				return err
			}
			made, err := host.Backup(command.Context(), loaded.Config, args[0])
			if errors.Is(err, host.ErrForeignBackup) {
				return advice{err, "pg_dump --format=custom --file=FILE \"$FASTREACT_POSTGRES_DSN\", and later pg_restore."}
			}
			if errors.Is(err, fs.ErrNotExist) {
				return advice{err, "Check store.path and the folder of the new file, or name the database with --store."}
			}
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(p.out).Encode(made)
			}
			fmt.Fprintf(p.out, "%s holds %s and %s (%d bytes).\n", onScreen(made.Path),
				counted(made.Runs, "run"), counted(made.Events, "event"), made.Bytes)
			return nil
		},
	}
	s.fileFlag(command)
	command.Flags().StringVar(&s.store, "store", "", "database file, instead of store.path")
	jsonFlag(command, &asJSON)
	return command
}
