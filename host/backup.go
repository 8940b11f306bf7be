package host

import (
	"context"

	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
)

// Copied says what a backup holds.
type Copied struct {
	Path   string `json:"path"` // absolute
	Bytes  int64  `json:"bytes"`
	Runs   int    `json:"runs"`
	Events int    `json:"events"`
}

// Backup writes the configured store into a new file as it is at one moment, while a service uses it or not. It
// overwrites nothing, and leaves nothing when it fails. A service that is started on the copy knows everything that
// was committed before the backup began.
func Backup(ctx context.Context, cfg Config, target string) (Copied, error) {
	made, err := sqlite.Backup(ctx, cfg.Store.Path, target)
	return Copied(made), err
}
