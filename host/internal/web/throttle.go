package web

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// Rate is how often something may happen. The zero value is no limit.
type Rate struct {
	PerMinute int
	Burst     int // how many at once; 0 = a minute's worth
}

// Throttle gives every key its own allowance. It remembers a bounded number of keys: where more come, the one that was
// silent longest is forgotten, and begins anew. It may be used from many goroutines.
type Throttle struct {
	rate  float64 // per second
	burst float64
	keys  int
	clock func() time.Time

	mu      sync.Mutex
	buckets map[string]*list.Element
	order   *list.List // of *bucket, the latest first
}

// bucket is what is left of one key's allowance.
type bucket struct {
	key  string
	left float64
	at   time.Time
}

// NewThrottle returns a throttle that remembers at most that many keys, or nil where there is no limit. A nil clock is
// time.Now.
func NewThrottle(rate Rate, keys int, clock func() time.Time) *Throttle {
	if rate.PerMinute <= 0 {
		return nil
	}
	if rate.Burst <= 0 {
		rate.Burst = rate.PerMinute
	}
	if clock == nil {
		clock = time.Now
	}
	return &Throttle{
		rate: float64(rate.PerMinute) / 60, burst: float64(rate.Burst), keys: max(keys, 1), clock: clock,
		buckets: map[string]*list.Element{}, order: list.New(),
	}
}

// Take takes one from a key's allowance, or says how long to wait for it. A nil throttle always gives.
func (t *Throttle) Take(key string) (wait time.Duration, ok bool) {
	if t == nil {
		return 0, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b, now := t.bucket(key), t.clock()
	b.left = min(t.burst, b.left+max(0, now.Sub(b.at).Seconds())*t.rate)
	b.at = now
	if b.left < 1 {
		return time.Duration((1 - b.left) / t.rate * float64(time.Second)), false
	}
	b.left--
	return 0, true
}

// bucket finds or makes the bucket of a key, and makes it the latest.
func (t *Throttle) bucket(key string) *bucket {
	if known := t.buckets[key]; known != nil {
		t.order.MoveToFront(known)
		return known.Value.(*bucket)
	}
	if t.order.Len() >= t.keys {
		oldest := t.order.Back()
		delete(t.buckets, t.order.Remove(oldest).(*bucket).key)
	}
	b := &bucket{key, t.burst, t.clock()}
	t.buckets[key] = t.order.PushFront(b)
	return b
}

// limit asks the rate limit of the credential. Those who come without one are told apart by their address.
func (d *door) limit(caller Caller, r *http.Request) *Refusal {
	key := caller.Credential
	if key == "" {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		key = "address " + host
	}
	return limited(d.cfg.Limit, key)
}

func limited(throttle *Throttle, key string) *Refusal {
	wait, ok := throttle.Take(key)
	if ok {
		return nil
	}
	return &Refusal{
		Status: http.StatusTooManyRequests, Code: "rate_limited",
		Sentence: "Too many requests. Try again later.", RetryAfter: wait,
	}
}

// Admit asks the lists and the rate limit about the user on whose behalf the caller comes. A face calls it when it has
// read and validated a request that names one.
func (x *Exchange) Admit(user, tenant string) error {
	if refusal := x.door.auth.guests.admit(user, tenant); refusal != nil {
		return refusal
	}
	if user == "" {
		return nil
	}
	if refusal := limited(x.door.cfg.UserLimit, tenant+"\x00"+user); refusal != nil {
		return refusal
	}
	return nil
}
