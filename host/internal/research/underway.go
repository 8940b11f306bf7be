package research

import (
	"context"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// contact is the one call that an action of a campaign may make.
type contact struct {
	taken bool          // it was made; guarded by Desk.mu
	over  chan struct{} // closed when its campaign has ended
}

// begin makes the calls of a campaign possible.
func (d *Desk) begin(c campaignBody) {
	over := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, call := range c.Calls {
		d.underway[call.CallID] = &contact{over: over}
	}
}

// end makes them impossible, and tells who waits.
func (d *Desk) end(c campaignBody) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, call := range c.Calls {
		if i == 0 {
			close(d.underway[call.CallID].over)
		}
		delete(d.underway, call.CallID)
	}
}

// take reports whether a call may be made now. It may be made once.
func (d *Desk) take(callID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, known := d.underway[callID]
	if !known || c.taken {
		return false
	}
	c.taken = true
	return true
}

func (d *Desk) isUnderway(callID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.underway[callID] != nil
}

// awaitCampaign waits for the campaign of an earlier request with the same key.
func (d *Desk) awaitCampaign(ctx context.Context, of run.ResearchEntry) error {
	earlier, err := d.cfg.Store.ResearchKeyed(ctx, of.Workspace, of.Key)
	if err != nil {
		return fmt.Errorf("read research: %w", err)
	}
	body, err := read[campaignBody](earlier.Body)
	if err != nil {
		return err
	}
	d.mu.Lock()
	var over chan struct{}
	for _, call := range body.Calls {
		if c, known := d.underway[call.CallID]; known {
			over = c.over
		}
	}
	d.mu.Unlock()
	if over == nil {
		return nil
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
