package host_test

import (
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
)

// called waits until a native tool was called.
func (s *stage) called(tool string) {
	s.t.Helper()
	for name := ""; name != tool; {
		select {
		case name = <-s.calls:
		case <-s.t.Context().Done():
			s.t.Fatalf("nobody called %s", tool)
		}
	}
}

// crash goes on as a process does that starts behind the death of another: with the store as it is now. The old process
// lives on with the old store, and nobody speaks to it.
func (s *stage) crash() {
	s.t.Helper()
	copied := filepath.Join(s.t.TempDir(), "fastreact.db")
	if _, err := host.Backup(s.t.Context(), s.options.Config, copied); err != nil {
		s.t.Fatal(err)
	}
	s.restart(copied)
}

// restart starts a process on a store.
func (s *stage) restart(store string) {
	s.t.Helper()
	options := s.options
	options.Config.Store.Path = store
	options.Natives = s.natives(options.Config, false)
	s.run(options)
}

// forget stops the service, removes the events of every run that is over, and starts it again.
func (s *stage) forget() {
	s.t.Helper()
	s.end()
	path := s.options.Config.Store.Path
	store, err := sqlite.Open(s.t.Context(), sqlite.Config{Path: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := store.Prune(s.t.Context(), ledger.Retention{Events: time.Nanosecond}, 100); err != nil {
		s.t.Error(err)
	}
	if err := store.Close(); err != nil {
		s.t.Error(err)
	}
	s.restart(path)
}
