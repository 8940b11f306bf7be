package host

import (
	"context"
	"errors"

	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
)

// Copied says what a backup holds.
type Copied struct {
	Path   string `json:"path"` // absolute
	Bytes  int64  `json:"bytes"`
	Runs   int    `json:"runs"`
	Events int    `json:"events"`
}

// ErrForeignBackup is why a database of PostgreSQL is not backed up here: its own tools copy it as it is at one moment,
// with its rights and settings, and bring it back.
var ErrForeignBackup = errors.New("the store is a PostgreSQL database: back it up with pg_dump, or with pg_basebackup and " +
	"archived WAL; they copy it as it is at one moment and can bring it back, and this command copies files only")

// Backup writes the configured store into a new file as it is at one moment, while a service uses it or not. It
// overwrites nothing, and leaves nothing when it fails. A service that is started on the copy knows everything that
// was committed before the backup began.
func Backup(ctx context.Context, cfg Config, target string) (Copied, error) {
	if cfg.Store.Driver == storePostgres {
		return Copied{}, ErrForeignBackup
	}
	made, err := sqlite.Backup(ctx, cfg.Store.Path, target)
	return Copied(made), err
}
