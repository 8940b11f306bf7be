package agenttools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Bounds of a connection.
const (
	headTimeout = 10 * time.Second
	idleTimeout = 2 * time.Minute
	maxHead     = 16 << 10 // bytes, the address included
)

// Serve answers what comes in on a listener, until Shutdown. It may be called once.
func (f *Face) Serve(listener net.Listener) error {
	f.mu.Lock()
	if f.server != nil {
		f.mu.Unlock()
		return errors.New("serve agent tools: served already")
	}
	f.server = &http.Server{
		Handler: f, ReadHeaderTimeout: headTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHead,
		DisableGeneralOptionsHandler: true, ConnContext: withFrames,
		ErrorLog: slog.NewLogLogger(f.cfg.Log.Handler(), slog.LevelDebug),
	}
	server := f.server
	f.mu.Unlock()
	if f.closing.Load() {
		return listener.Close()
	}
	if err := server.Serve(watchedListener{listener, f.unparsed}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve agent tools: %w", err)
	}
	return nil
}

// Shutdown refuses what is new and waits for what is under way, until ctx ends; then it cuts what is left.
func (f *Face) Shutdown(ctx context.Context) error {
	f.closing.Store(true)
	f.mu.Lock()
	server := f.server
	f.mu.Unlock()
	if server == nil {
		return nil
	}
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close()
		return fmt.Errorf("shut down agent tools: %w", err)
	}
	return nil
}
