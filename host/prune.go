package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
)

// Retention is gentle: small batches, with a pause while there are more, so that it keeps up with a busy service.
const (
	pruneInterval = time.Minute
	prunePause    = time.Second
	pruneBatch    = 200
)

// prune removes what is older than is kept, until ctx ends, one process at a time.
func (s *Server) prune(ctx context.Context) { s.duties.Keep(ctx, "prune", s.pruneAlone) }

func (s *Server) pruneAlone(ctx context.Context) {
	kept := s.options.Config.Store.Retention
	keep := ledger.Retention{Events: kept.Events, Runs: kept.Runs, PerTenant: kept.RunsPerTenant}
	for {
		pruned, err := s.ledger.Prune(ctx, keep, pruneBatch)
		switch {
		case err != nil && ctx.Err() == nil:
			s.options.Log.Error("cannot remove what is old", slog.Any("error", err))
		case pruned.Runs > 0 || pruned.Compacted > 0:
			s.options.Log.Info("what is old was removed",
				slog.Int("runs", pruned.Runs), slog.Int("runs_without_events", pruned.Compacted))
		}
		nap := pruneInterval
		if pruned.Runs >= pruneBatch || pruned.Compacted >= pruneBatch {
			nap = prunePause
		}
		select {
		case <-time.After(nap):
		case <-ctx.Done():
			return
		}
	}
}
