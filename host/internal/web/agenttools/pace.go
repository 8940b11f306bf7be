package agenttools

import (
	"sync"
	"time"
)

// pace lets one mutation pass in each interval.
type pace struct {
	interval time.Duration
	clock    func() time.Time

	mu   sync.Mutex
	last time.Time // when one passed
}

// take decides about one mutation. Of any number at once one passes; those that do not pass count for nothing.
func (p *pace) take() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	if !p.last.IsZero() && now.Sub(p.last) < p.interval {
		return false
	}
	p.last = now
	return true
}
