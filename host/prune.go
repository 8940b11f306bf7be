package host

import (
	"context"
	"log/slog"
	"time"
)

// pruneInterval and pruneBatch keep retention gentle: small batches, one an interval while there is work.
const (
	pruneInterval = time.Minute
	pruneBatch    = 200
)

// prune removes runs that finished longer ago than the configured retention, until ctx ends.
func (s *Server) prune(ctx context.Context) {
	tick := time.NewTicker(pruneInterval)
	defer tick.Stop()
	for {
		before := time.Now().Add(-s.options.Config.Store.Retention.Events)
		removed, err := s.ledger.Prune(ctx, before, pruneBatch)
		switch {
		case err != nil && ctx.Err() == nil:
			s.options.Log.Error("cannot remove old runs", slog.Any("error", err))
		case removed > 0:
			s.options.Log.Info("old runs removed", slog.Int("count", removed))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
