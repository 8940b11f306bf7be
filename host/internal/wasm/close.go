package wasm

import (
	"context"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm/pool"
)

// ending is how long a guest may take to end when it was told to: it is told at its next tick.
const endingTime = 5 * time.Second

// Gauges are a plugin's numbers at one moment.
type Gauges struct {
	pool.Gauges
	ImageBytes int // of the snapshot; 0 in fresh mode
}

// Gauges returns the numbers of this moment.
func (p *Plugin) Gauges() Gauges {
	g := Gauges{Gauges: p.pool.Gauges()}
	if p.image != nil {
		g.ImageBytes = p.image.memory.Size()
	}
	return g
}

// Close takes no more calls, waits as long as ctx allows for those that run, ends those that are left, and frees the
// plugin. When a guest does not end then, its code stays mapped and the error says so. It may be called again.
func (p *Plugin) Close(ctx context.Context) error {
	if err := p.pool.Close(ctx); err != nil {
		p.end()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), endingTime)
		defer cancel()
		if err := p.pool.Close(late); err != nil {
			return fmt.Errorf("close plugin %s: a guest still runs: %w", p.name, err)
		}
	}
	p.mu.Lock()
	again := p.closed
	p.closed = true
	p.mu.Unlock()
	if again {
		return nil
	}
	p.image.close()
	p.host.forget(p)
	if p.dozing != nil {
		return p.host.engines.forget(context.WithoutCancel(ctx), p.key)
	}
	return p.host.engines.release(context.WithoutCancel(ctx), p.key)
}

// end tells all calls that their time is over.
func (p *Plugin) end() {
	p.ending.Do(func() { close(p.stop) })
	p.calls.shut()
}
