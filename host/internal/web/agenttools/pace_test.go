package agenttools

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const callsPath = "/api/v1/agent-tools/calls"

func TestOfFiftyMutationsAtOnceExactlyOnePasses(t *testing.T) {
	b := opened(t)
	got := make([]answer, 50)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = b.send("POST", callsPath, bodyFor(callsPath), b.proof()...) })
	}
	all.Wait()
	statuses := map[int]int{}
	for _, a := range got {
		statuses[a.status]++
		if a.status == 429 && (a.code(t) != "rate_limited" || a.header.Get("Retry-After") != "1") {
			t.Errorf("%s, Retry-After %q", a.body, a.header.Get("Retry-After"))
		}
	}
	if diff := cmp.Diff(map[int]int{201: 1, 429: 49}, statuses); diff != "" || b.engine.calls.Load() != 1 {
		t.Errorf("%d were executed (-want +got):\n%s", b.engine.calls.Load(), diff)
	}
}

func TestTwoMutationsWithinTheIntervalAreOneOnEveryRoute(t *testing.T) {
	b := opened(t)
	for _, path := range paths("POST") {
		b.post(path, bodyFor(path))
		b.hands.move(30*time.Millisecond - 1)
		before := b.engine.calls.Load()
		if got := b.send("POST", path, bodyFor(path), b.proof()...); got.code(t) != "rate_limited" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		if b.engine.calls.Load() != before {
			t.Errorf("%s was executed", path)
		}
	}
}

func TestOnlyWhatPassedCountsForThePace(t *testing.T) {
	b := opened(t)
	b.post(callsPath, bodyFor(callsPath))
	b.hands.move(15 * time.Millisecond)
	b.send("POST", callsPath, bodyFor(callsPath), b.proof()...)
	b.hands.move(15 * time.Millisecond)
	b.send("POST", callsPath, bodyFor(callsPath), append(b.proof(), csrfHeader, "wrong")...)
	if got := b.send("POST", callsPath, bodyFor(callsPath), b.proof()...); got.status != 201 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestReadingIsNotPaced(t *testing.T) {
	b := opened(t)
	for range 5 {
		if got := b.get("/api/v1/agent-tools/events"); got.status != 200 {
			t.Errorf("%d", got.status)
		}
	}
}

func TestTooManyMutationsThatWaitAreRefusedWhilePollingGoesOn(t *testing.T) {
	b := opened(t, func(cfg *Config) { cfg.MaxRequests = 2 })
	b.engine.hold = make(chan struct{})
	answers := make(chan answer, 2)
	for range 2 {
		b.hands.move(30 * time.Millisecond)
		go func() { answers <- b.send("POST", callsPath, bodyFor(callsPath), b.proof()...) }()
		<-b.engine.held
	}
	got := b.post(callsPath, bodyFor(callsPath))
	if got.status != 503 || got.code(t) != "busy" || got.header.Get("Retry-After") == "" {
		t.Errorf("the third: %d %s", got.status, got.body)
	}
	if got := b.get("/api/v1/session"); got.status != 200 {
		t.Errorf("a poll: %d", got.status)
	}
	close(b.engine.hold)
	for range 2 {
		if a := <-answers; a.status != 201 {
			t.Errorf("one that waited: %d", a.status)
		}
	}
}

func TestWhatIsUnderWayIsAnsweredWhenTheFaceShutsDown(t *testing.T) {
	b := opened(t)
	b.engine.hold = make(chan struct{})
	answers := make(chan answer, 1)
	b.hands.move(30 * time.Millisecond)
	go func() { answers <- b.send("POST", callsPath, bodyFor(callsPath), b.proof()...) }()
	<-b.engine.held
	b.face.closing.Store(true)
	got := b.post(callsPath, bodyFor(callsPath))
	if got.status != 503 || got.code(t) != "closing" {
		t.Errorf("a new one: %d %s", got.status, got.body)
	}
	down := make(chan error, 1)
	go func() { down <- b.face.Shutdown(t.Context()) }()
	close(b.engine.hold)
	if a := <-answers; a.status != 201 {
		t.Errorf("the one under way: %d %s", a.status, a.body)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}
