package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
)

// pruneInterval and pruneBatch keep retention gentle: small batches, one an interval while there is work.
const (
	pruneInterval = time.Minute
	pruneBatch    = 200
)

// prune removes what is older than is kept, until ctx ends, one process at a time.
func (s *Server) prune(ctx context.Context) { s.duties.Keep(ctx, "prune", s.pruneAlone) }

func (s *Server) pruneAlone(ctx context.Context) {
	kept := s.options.Config.Store.Retention
	keep := ledger.Retention{Events: kept.Events, Runs: kept.Runs, PerTenant: kept.RunsPerTenant}
	tick := time.NewTicker(pruneInterval)
	defer tick.Stop()
	for {
		pruned, err := s.ledger.Prune(ctx, keep, pruneBatch)
		switch {
		case err != nil && ctx.Err() == nil:
			s.options.Log.Error("cannot remove what is old", slog.Any("error", err))
		case pruned.Runs > 0 || pruned.Compacted > 0:
			s.options.Log.Info("what is old was removed",
				slog.Int("runs", pruned.Runs), slog.Int("runs_without_events", pruned.Compacted))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
