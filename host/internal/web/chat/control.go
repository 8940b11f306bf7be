package chat

import (
	"sync"

	"github.com/fastreact/fastreact/host/internal/run"
)

// The reasons of a run that this face cancels.
const (
	clientDisconnect = "CLIENT_DISCONNECT"
	streamFailed     = "STREAM_FAILED" // its events could not be read any more: the client was told so
)

// control stops the one run of one client. A disconnect that comes before the run is "remembered and applied the moment
// it" is there; one that comes after the end changes nothing. It may be used from many goroutines.
type control struct {
	cancel func(run.Ref, string)

	mu     sync.Mutex
	ref    *run.Ref // nil until the run is stored
	reason string   // why it shall stop; empty = it shall not
	over   bool
}

// started publishes the run. It is cancelled at once where that was asked for before.
func (c *control) started(ref run.Ref) {
	if reason := c.publish(ref); reason != "" {
		c.cancel(ref, reason)
	}
}

func (c *control) publish(ref run.Ref) (reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ref = &ref
	return c.reason
}

// stop cancels the run, now or when it is there. Only the first reason counts.
func (c *control) stop(reason string) {
	if ref := c.remember(reason); ref != nil {
		c.cancel(*ref, reason)
	}
}

// remember keeps the reason and returns the run that is to be cancelled now.
func (c *control) remember(reason string) *run.Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason != "" || c.over {
		return nil
	}
	c.reason = reason
	return c.ref
}

// finish says that the client was told the end.
func (c *control) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}

// stopped reports whether the run shall not be.
func (c *control) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason != ""
}
