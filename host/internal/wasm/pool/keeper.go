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
	u, there := p.pick()
	p.mu.Unlock()
	if there {
		p.finish(u)
	}
	return there
}

// finish restores or discards an instance and passes on what comes of it. The keeper looks after a surplus, and after
// what came to rest in a pool that was closed meanwhile.
func (p *Pool[T]) finish(u used[T]) {
	kept, took := p.tidy(u)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	p.count(kept, took)
	if kept {
		p.settle(u.value)
	} else {
		p.pass()
	}
	if p.closed || len(p.idle) > p.config.Least {
		p.nudge()
	}
}

// pick takes what was given back first.
func (p *Pool[T]) pick() (u used[T], there bool) {
	if len(p.used) == 0 {
		return u, false
	}
	u = p.used[0]
	p.busy++
	p.used = append(p.used[:0], p.used[1:]...) // there are few
	u.whole = u.whole && !p.closed && p.config.Restore != nil
	return u, true
}

// tidy restores an instance, or discards it.
func (p *Pool[T]) tidy(u used[T]) (kept bool, took time.Duration) {
	if u.whole {
		begin := time.Now()
		kept = p.config.Restore(u.value) == nil
		took = time.Since(begin)
	}
	if !kept {
		p.config.Discard(u.value)
	}
	return kept, took
}

func (p *Pool[T]) count(kept bool, took time.Duration) {
	if !kept {
		p.numbers.Discarded++
		return
	}
	p.numbers.Restored++
	p.numbers.RestoreTime += took
}

// help restores what the keeper did not come to yet, for a caller who would wait for it. It returns whether that is
// lent to him now; else he may make one, for what could not be restored is gone.
func (p *Pool[T]) help(u used[T]) (T, bool) {
	kept, took := p.tidy(u)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	p.numbers.Leased++
	p.count(kept, took)
	return u.value, kept
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
