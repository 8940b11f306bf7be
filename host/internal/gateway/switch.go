package gateway

import (
	"context"
	"slices"
)

// Activate makes a workspace the active one. What was kept of the other is gone; its calls under way end for those who
// wait for them, and leave nothing. The active workspace itself is no switch. The error is one of Codes.
func (g *Gateway) Activate(id string) error {
	if !slices.Contains(g.cfg.Workspaces, id) {
		return refuse(CodeUnknownSpace, "There is no such workspace.")
	}
	g.switching.Lock()
	defer g.switching.Unlock()
	switched, err := g.change(id)
	if switched && g.cfg.Switched != nil {
		g.cfg.Switched(id)
	}
	return err
}

func (g *Gateway) change(id string) (switched bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false, refuse(CodeClosed, "The service is shutting down.")
	}
	if g.shelf != nil {
		if g.shelf.workspace == id {
			return false, nil
		}
		g.lost[g.shelf.workspace] = g.shelf.newest()
	}
	g.shelf = newShelf(id, g.lost[id])
	return true, nil
}

// Close ends every call under way, takes no more, and forgets everything. It waits until the last call has ended, or
// returns the cause of ctx.
func (g *Gateway) Close(ctx context.Context) error {
	g.stop()
	left := make(chan struct{})
	go func() {
		g.tasks.Wait()
		close(left)
	}()
	select {
	case <-left:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *Gateway) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed, g.shelf = true, nil
	for _, cancel := range g.running {
		if cancel != nil {
			cancel(errClosing)
		}
	}
}
