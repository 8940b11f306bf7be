package host

import (
	"context"
	"log/slog"
	"time"
)

// warnOfNamesakes says once, when every node had time to be seen, which other one has the name of this one. Both work: what
// is told apart is the incarnation. People are told apart by names.
func (s *Server) warnOfNamesakes(ctx context.Context) {
	seen := time.NewTimer(s.options.Config.Workers.Lease)
	defer seen.Stop()
	select {
	case <-seen.C:
	case <-ctx.Done():
		return
	}
	nodes, err := s.ledger.Nodes(ctx)
	if err != nil {
		return // the heartbeat says what is wrong with the store
	}
	for _, node := range nodes {
		if node.Name == nodeLabel(s.options.Config) && node.Owner != s.owner {
			s.options.Log.Warn("another node has the name of this one: both work, and nobody can tell them apart; set workers.node",
				slog.String("node", node.Name), slog.String("incarnation", node.Owner))
		}
	}
}
