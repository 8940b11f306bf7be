package pool

import "time"

// keep restores and discards what was given back, and lets go of what was idle for too long.
func (p *Pool[T]) keep() {
	defer close(p.gone)
	timer := time.NewTimer(p.config.Linger)
	defer timer.Stop()
	for {
		for p.tidyOne() {
		}
		next, done := p.shrink()
		if done {
			return
		}
		timer.Stop()
		if next > 0 {
			timer.Reset(next)
		}
		select {
		case <-p.wake:
		case <-timer.C:
		}
	}
}

// tidyOne restores or discards one instance; it returns false when there was none.
func (p *Pool[T]) tidyOne() bool {
	p.mu.Lock()
	if len(p.used) == 0 {
		p.mu.Unlock()
		return false
	}
	u := p.used[0]
	p.used[0] = used[T]{}
	p.used = p.used[1:]
	p.busy++
	keep := u.whole && !p.closed && p.config.Restore != nil
	p.mu.Unlock()

	var took time.Duration
	if keep {
		begin := time.Now()
		keep = p.config.Restore(u.value) == nil
		took = time.Since(begin)
	}
	if !keep {
		p.config.Discard(u.value)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if !keep {
		p.numbers.Discarded++
		p.pass()
		return true
	}
	p.numbers.Restored++
	p.numbers.RestoreTime += took
	p.settle(u.value)
	return true
}

// settle gives an instance that is as good as new to who waits longest, else it rests.
func (p *Pool[T]) settle(value T) {
	if len(p.queue) == 0 {
		p.idle = append(p.idle, resting[T]{value, time.Now()})
		return
	}
	p.numbers.Leased++
	p.serve(grant[T]{value: value, have: true})
}

// pass lets those who wait make an instance, when there is room for one more.
func (p *Pool[T]) pass() {
	for len(p.queue) > 0 && p.total() < p.config.Most {
		p.numbers.Leased++
		p.serve(grant[T]{})
	}
}

func (p *Pool[T]) serve(g grant[T]) {
	first := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	first.served <- g
}

// shrink discards what is idle for too long and returns when to look again: 0 for not before something happens. A pool
// that was closed is done when everything is back.
func (p *Pool[T]) shrink() (next time.Duration, done bool) {
	p.mu.Lock()
	least, now := p.config.Least, time.Now()
	if p.closed {
		least = 0
	}
	spare := 0
	for len(p.idle)-spare > least && (p.closed || now.Sub(p.idle[spare].since) >= p.config.Linger) {
		spare++
	}
	old := append([]resting[T](nil), p.idle[:spare]...)
	clear(p.idle[:spare])
	p.idle = p.idle[spare:]
	p.numbers.Discarded += int64(spare)
	if len(p.idle) > least {
		next = max(p.config.Linger-now.Sub(p.idle[0].since), time.Nanosecond)
	}
	p.busy += spare
	p.mu.Unlock()

	for _, r := range old {
		p.config.Discard(r.value)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy -= spare
	p.pass()
	return next, p.closed && p.total() == 0
}
