package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm"
)

// closeGrace is how long a plugin that nobody shall use any more waits for its last call before it ends it.
const closeGrace = 100 * time.Millisecond

// hold counts the generation among the users of its plugins.
func (g *generation) hold() {
	for _, r := range g.residents {
		r.users.Add(1)
	}
}

// retire closes the plugins of a generation that nobody else has, once its last call is over, or when patience ends.
// It is called with the turn taken, so that Close can wait for it.
func (s *Server) retire(old *generation, left <-chan struct{}, patience time.Duration) {
	s.retiring.Go(func() {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-left:
		case <-timer.C:
			s.options.Log.Warn("calls outlast the plugins that served them and are ended", slog.Int("generation", old.number))
		case <-s.shut:
		}
		s.letGo(old.residents)
	})
}

// letGo gives plugins back. Whoever is the last to do so closes them.
func (s *Server) letGo(residents []*resident) {
	for _, r := range residents {
		if r.users.Add(-1) > 0 {
			continue
		}
		if err := r.close(); err != nil {
			s.options.Log.Warn("a replaced plugin could not be closed", slog.String("plugin", r.Name()), slog.Any("error", err))
		}
	}
}

// close frees a plugin. Calls under way are ended. A plugin that was not compiled yet never is.
func (r *resident) close() error {
	r.once.Do(func() {
		r.err = errRetired
		close(r.done)
	})
	if r.plugin == nil {
		return nil
	}
	return closePlugin(r.plugin)
}

func closePlugin(plugin *wasm.Plugin) error {
	ctx, stop := context.WithTimeout(context.Background(), closeGrace)
	defer stop()
	return plugin.Close(ctx)
}
