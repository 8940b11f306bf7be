package host

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/fastreact/fastreact/host/internal/trust"
	"github.com/fastreact/fastreact/host/internal/wasm"
)

// watchInterval is how often the files are looked at. A change is taken up when two looks in a row see the same.
const watchInterval = 500 * time.Millisecond

// sight is what one look at the files saw: nil for one that is not there.
type sight map[string]os.FileInfo

// lookAt looks at files without opening them. Links are followed, so that a link set elsewhere is a change.
func lookAt(paths []string) sight {
	seen := sight{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			info = nil
		}
		seen[path] = info
	}
	return seen
}

// equals reports whether two looks saw the same files, as far as that shows from outside.
func (s sight) equals(other sight) bool {
	if len(s) != len(other) {
		return false
	}
	for path, info := range s {
		now, looked := other[path]
		if !looked || (info == nil) != (now == nil) {
			return false
		}
		if info != nil && (!os.SameFile(info, now) || info.Size() != now.Size() || !info.ModTime().Equal(now.ModTime())) {
			return false
		}
	}
	return true
}

// watcher decides when to act on what it sees. One goroutine uses it.
type watcher struct {
	look func() sight
	act  func()

	acted sight // on which it acted last, or with which it began
	last  sight
}

// tick looks once, and acts when the files differ from those of before and have come to rest.
func (w *watcher) tick() {
	now := w.look()
	resting := w.last.equals(now)
	w.last = now
	if !resting || w.acted.equals(now) {
		return
	}
	w.acted = now // before acting: what changes meanwhile is a change again
	w.act()
}

// watchedFiles lists every file that decides which plugins serve.
func (s *Server) watchedFiles() []string {
	wanted := s.wanted.Load()
	paths := append([]string{s.options.File}, lockCandidates(s.options.File)...)
	if wanted.LockFile != "" {
		paths = append(paths, wanted.LockFile)
	}
	for _, key := range wanted.Trust.Keys {
		if key.PublicKeyFile != "" {
			paths = append(paths, key.PublicKeyFile)
		}
	}
	for _, entry := range wanted.Load {
		paths = append(paths, wasm.PluginFiles(entry.Path, entry.Manifest, wanted.Limits.ModuleBytes)...)
		paths = append(paths, entry.Path+trust.SignatureSuffix)
	}
	return paths
}

// watchPlugins takes plugins up again when their files change, until ctx ends. The policy section of the configuration
// waits for somebody to say so.
func (s *Server) watchPlugins(ctx context.Context) {
	if !s.options.Config.Plugins.Watch || s.options.File == "" || s.options.Reload == nil {
		return
	}
	w := &watcher{
		look: func() sight { return lookAt(s.watchedFiles()) }, acted: s.firstSight, last: s.firstSight,
		act: func() {
			s.options.Log.Info("files of plugins changed")
			if _, err := s.reload(ctx, reach{plugins: true}); err != nil && ctx.Err() == nil {
				s.options.Log.Debug("watch: not reloaded", slog.Any("error", err)) // reload has said why
			}
		},
	}
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.tick()
		case <-ctx.Done():
			return
		}
	}
}
